#!/usr/bin/env node
// The commands of `npx muster`. Any Node on the PATH may start it, also an old one and before anything is installed,
// so it imports only Node itself until both are settled.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModules from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The first Node that runs all of our TypeScript as it is. */
const NEEDED = [24, 12];
const root = fileURLToPath(new URL('../..', import.meta.url));

if (!existsSync(join(root, 'node_modules', 'commander'))) {
  fail(`Muster is not set up yet: run npm ci in ${root} first, or npm start for a fleet on this machine.`);
} else if (isNewEnough(process.versions.node)) {
  await run();
} else {
  runOnNewerNode();
}

async function run() {
  process.stdout.on('error', leave);
  // Half of the time of a short command is compiling. Where the folder cannot be written, Node goes on without it.
  nodeModules.enableCompileCache(join(root, 'node_modules', '.cache', 'node'));
  const { runCli } = await import('../cli/run-cli.ts');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  process.exitCode = await runCli({ args: process.argv.slice(2), doctor, dev, version });
}

async function doctor(request) {
  const { runDoctor } = await import('./doctor/run-doctor.ts');
  return runDoctor({ out: process.stdout, ...request });
}

/** The reader of a pipe may leave early (`muster tasks | head -1`), which is no failure. */
function leave() {
  process.exit(0);
}

async function dev() {
  // A fleet stops in order.
  process.stdout.off('error', leave);
  const { runDev } = await import('./dev/run-dev.ts');
  await runDev();
}

function runOnNewerNode() {
  const places = [join('.bin', 'node'), join('node', 'bin', 'node')];
  const node = places.map((place) => join(root, 'node_modules', place)).find((file) => existsSync(file));
  // Without the mark, a folder of modules with an old Node in it would start itself again and again.
  if (node === undefined || process.env.MUSTER_CLI_NODE === 'tried') {
    fail(`Muster needs Node ${NEEDED.join('.')} or newer, and this is ${process.versions.node}: run npm start in ${root} first.`);
    return;
  }
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: 'inherit', env: { ...process.env, MUSTER_CLI_NODE: 'tried' } });
  // Ctrl-C reaches both, and the child says how it ends; what is sent to this process alone is handed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
  child.on('error', (error) => fail(`${node} cannot be started: ${error.message}. Run npm start in ${root} first.`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

function fail(message) {
  console.error(`muster: ${message}`);
  process.exitCode = 1;
}
