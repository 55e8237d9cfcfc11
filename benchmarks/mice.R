# Complete a table by R's mice several times, to compare draws with: `make mice` installs it.
#
#     Rscript benchmarks/mice.R table.csv folder [times = 5] [seed = 1]
#
# The first column is the id. Texts are categories; those of more than 50 values are left as they
# are, and so is what mice cannot fill. Writes folder/1.csv, folder/2.csv, ...
suppressPackageStartupMessages(library(mice))

given <- commandArgs(trailingOnly = TRUE)
if (length(given) < 2) stop("name a table and a folder: Rscript benchmarks/mice.R table.csv folder")
times <- if (length(given) > 2) as.integer(given[3]) else 5L
seed <- if (length(given) > 3) as.integer(given[4]) else 1L

table <- read.csv(given[1], check.names = FALSE, na.strings = "", stringsAsFactors = TRUE)
names <- names(table)
names(table) <- paste0("column", seq_along(table))  # mice writes formulas with them
few <- vapply(table, function(x) !is.factor(x) || nlevels(x) <= 50, logical(1))
few[1] <- FALSE
scaled <- table[few]  # else the regressions of mice are singular: people beside percents
numbers <- vapply(scaled, is.numeric, logical(1))
scaled[numbers] <- lapply(scaled[numbers], function(x) as.numeric(scale(x)))
filled <- mice(scaled, m = times, seed = seed, printFlag = FALSE)

dir.create(given[2], showWarnings = FALSE, recursive = TRUE)
for (k in seq_len(times)) {
  draw <- complete(filled, k)
  whole <- table
  for (name in names(scaled)) {
    lost <- is.na(table[[name]])
    known <- table[[name]]
    whole[[name]][lost] <- if (numbers[name]) {
      draw[[name]][lost] * sd(known, na.rm = TRUE) + mean(known, na.rm = TRUE)
    } else {
      draw[[name]][lost]
    }
  }
  write.csv(setNames(whole, names), file.path(given[2], paste0(k, ".csv")),
            row.names = FALSE, na = "")
}
