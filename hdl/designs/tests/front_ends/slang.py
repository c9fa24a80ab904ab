"""slang reads a design: `slang.py TOP FILE`. Every diagnostic counts, warnings too; pyslang brings the library but no program."""

import sys

from pyslang.driver import Driver

top, file = sys.argv[1:]
driver = Driver()
driver.addStandardArgs()
read = driver.parseCommandLine(f"slang -Weverything -Werror --error-limit=20 --top {top} {file}")
if not (read and driver.processOptions() and driver.parseAllSources()):
    sys.exit(1)
driver.reportCompilation(driver.createCompilation(), True)
sys.exit(0 if driver.reportDiagnostics(True) else 1)
