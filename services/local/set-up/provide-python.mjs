import {
  canInstallDebianPackages,
  findProgram,
  installDebianPackage,
  isProgram,
  lastLines,
  runQuietly,
  SetUpProblem,
} from './programs.mjs';

/** Provides a Python with `websockets` for the tests of the daemon in Python. In CI a missing one is an error, so that no test is skipped. */
export async function providePython() {
  if (await findPython()) return;
  const result = (await canInstallDebianPackages()) ? await installDebianPackage('python3-websockets') : null;
  if (await findPython()) return;

  const message = 'No Python 3.9 or newer with the module websockets was found: pip install websockets, or set PYTHON_PATH.';
  if (process.env.CI === 'true') throw new SetUpProblem([message, lastLines(result?.output ?? '')].join('\n\n'));
  console.log(`Set-up: ${message} Until then the test of the daemon in Python is skipped.`);
}

const CHECK = 'import sys, websockets; sys.exit(sys.version_info < (3, 9))';

/** Finds the Python for the tests: PYTHON_PATH, else the one on the PATH or the system's own; null when none has the module. */
export async function findPython() {
  const named = process.env.PYTHON_PATH;
  const candidates = named ? [named] : [findProgram(['python3']), '/usr/bin/python3'];
  for (const program of candidates) {
    if (program !== null && isProgram(program) && (await runQuietly([program, '-c', CHECK])).code === 0) return program;
  }
  return null;
}
