"""What holds for every test."""

import signal

# Under nohup, or in the background of a shell, interrupts are ignored, and by all that is started
# from here too; tests that interrupt a process of their own need them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
