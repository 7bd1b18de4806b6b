// Runs everything that has to pass before a change lands: the scripts `check:*` of package.json beside each other, then the tests. With
// `--set-up` it first provides what they need, so it imports only modules of Node and runs on any Node that the set-up runs on.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const startedAt = Date.now();
/** Seconds of each stage by its name, for the closing lines of the tests. */
const took = {};

if (process.argv.includes('--set-up')) await runStage('set-up', () => runShown('node services/local/set-up.mjs --for-tests'));
await runStage('checks', async () => {
  const names = Object.keys(scripts).filter((name) => name.startsWith('check:'));
  return !(await Promise.all(names.map(runCheck))).includes(false);
});
const isPassed = await runShown('vitest run', { ...process.env, CHECK_STAGES: JSON.stringify({ startedAt, took }) });
process.exitCode = isPassed ? 0 : 1;

/** Ends the process when the stage fails: what comes after it would be noise. */
async function runStage(name, run) {
  const from = Date.now();
  if (!(await run())) process.exit(1);
  took[name] = (Date.now() - from) / 1000;
}

/** Shows the output of a check once it has ended, in one piece. Resolves to whether it passed. */
function runCheck(name) {
  const child = spawn(scripts[name], { cwd: ROOT, shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text) => (output += text));
  }
  return new Promise((resolve) => {
    child.on('close', (code) => {
      console.log(`\n> ${name}${code === 0 ? '' : ` failed with code ${code}`}\n${output}`.trimEnd());
      resolve(code === 0);
    });
  });
}

/** Runs a command on this terminal. Resolves to whether it passed. */
function runShown(command, env = process.env) {
  const child = spawn(command, { cwd: ROOT, env, shell: true, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code === 0));
  });
}
