import { spawn } from 'node:child_process';

const SIGN_OF_LIFE_MS = 10_000;
const TAIL_LINES = 25;

/**
 * Runs one program under a title, with a sign of life every ten seconds, and keeps what it prints for the case that it
 * fails. Answers `{ ok, output }`; a program that cannot be started is a failure like any other.
 */
export async function runStep(title, [program, ...args], { cwd, env = process.env } = {}) {
  const startedAt = performance.now();
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  console.log(`Set-up: ${title} ...`);
  const timer = setInterval(() => console.log(`Set-up: ${title} ... ${seconds()}`), SIGN_OF_LIFE_MS);
  const { code, output } = await runQuietly([program, ...args], { cwd, env });
  clearInterval(timer);
  console.log(`Set-up: ${title}: ${code === 0 ? 'done' : `failed with code ${code}`} (${seconds()})`);
  return { ok: code === 0, output };
}

/** The end of what a program printed, where most say why they failed. */
export function lastLines(output) {
  return output.trim().split('\n').slice(-TAIL_LINES).join('\n');
}

/** Runs a program without a word; answers its exit code (127 when it cannot be started) and all that it printed. */
export function runQuietly([program, ...args], { cwd, env = process.env } = {}) {
  return new Promise((resolve) => {
    // No stdin: a package manager that wants to ask must fail, not wait for an answer nobody sees it ask for.
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => (output += text));
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }));
  });
}
