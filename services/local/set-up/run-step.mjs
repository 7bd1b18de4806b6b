import { spawn } from 'node:child_process';

const PROGRESS_MS = 10_000;
const TAIL_LINES = 25;

/**
 * Runs a program under a title, prints progress every ten seconds, and keeps its output for the case that it fails.
 * Returns `{ ok, output }`; a program that cannot be started counts as failed.
 */
export async function runStep(title, [program, ...args], { cwd, env = process.env } = {}) {
  const startedAt = performance.now();
  const seconds = () => `${Math.round((performance.now() - startedAt) / 1000)} s`;
  console.log(`Set-up: ${title} ...`);
  const timer = setInterval(() => console.log(`Set-up: ${title} ... ${seconds()}`), PROGRESS_MS);
  const { code, output } = await runQuietly([program, ...args], { cwd, env });
  clearInterval(timer);
  console.log(`Set-up: ${title}: ${code === 0 ? 'done' : `failed with code ${code}`} (${seconds()})`);
  return { ok: code === 0, output };
}

/** The last lines of an output, where most programs explain why they failed. */
export function lastLines(output) {
  return output.trim().split('\n').slice(-TAIL_LINES).join('\n');
}

/** Runs a program silently. Returns its exit code (127 when it cannot be started) and its output. */
export function runQuietly([program, ...args], { cwd, env = process.env } = {}) {
  return new Promise((resolve) => {
    // No stdin: a package manager that asks a question must fail instead of waiting for an answer.
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

/** A problem that only a person can solve; the message explains how. */
export class SetUpProblem extends Error {}
