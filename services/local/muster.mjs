#!/usr/bin/env node
// The command `muster`, of a clone and of the package. Any Node from 20 on may start it, in a clone also before anything is installed,
// so it imports only Node itself until both are settled.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import * as nodeModules from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithNpm } from './npm-parent.mjs';
import { isNewEnough, nodeOfClone, nodeOfProject } from './own-node.mjs';
import { SetUpProblem } from './set-up/programs.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The repository, whose sources run as they are; else the package, which is compiled. */
const isClone = name === 'muster';

/** What a command of this file ends with, where it is not that of the others. */
let exitCode;

/** The commands that are the fleet itself, and how each is run. */
const RUNS = {
  start: () => import('./main.ts'),
  dev: async () => (await import('./dev/run-dev.ts')).runDev(),
  api: () => import('../api/main.ts'),
  webhooks: () => import('../webhooks/main.ts'),
  chat: () => import('../chat/main.ts'),
  scheduler: () => import('../scheduler/main.ts'),
  dashboard: () => import('../dashboard/main.ts'),
  hub: () => import('../hub/main.ts'),
  worker: () => import('../worker/main.ts'),
};
/** The commands about a project of one's own, which take arguments. */
const RUNS_ON_PROJECT = {
  init: async (args) => {
    const { runInit } = await import('./init/run-init.mjs');
    const fleet = isClone ? join(root, 'dist', `muster-fleet-${version}.tgz`) : undefined;
    process.exitCode = runInit(args, { command: 'muster init', release: version, fleet, out: process.stdout, err: process.stderr });
  },
  backup: async (args) => (await import('./backup/run-backup.ts')).runBackup(args, { out: process.stdout }),
  restore: async (args) => (await import('./backup/run-backup.ts')).runRestore(args, { out: process.stdout }),
  test: async (files) => {
    const child = spawn(process.execPath, ['--test', ...files], { stdio: 'inherit' });
    const [code] = await once(child, 'exit');
    exitCode = code ?? 1;
  },
};
const forFleet = Object.hasOwn(RUNS, process.argv[2] ?? '');
if (forFleet || process.argv[2] === 'daemon') endWithNpm();

try {
  if (process.argv[2] === 'init') {
    // A project is made by any Node, and before anything is installed.
    await RUNS_ON_PROJECT.init(process.argv.slice(3));
  } else if (isClone && !existsSync(join(root, 'node_modules', 'commander'))) {
    fail(`Muster is not set up yet: run npm ci in ${root} first, or npm start for a fleet on this machine.`);
  } else if (isNewEnough(process.versions.node, { forFleet })) {
    await runHere();
  } else {
    await runOnNewerNode();
  }
} catch (error) {
  if (!(error instanceof SetUpProblem)) throw error;
  fail(error.message);
}

async function runHere() {
  process.stdout.on('error', leave);
  // Half of the time of a short command is compiling. Where the folder cannot be written, Node goes on without it.
  const cache = join(isClone ? join(root, 'node_modules') : dirname(root), '.cache', isClone ? 'node' : name);
  nodeModules.enableCompileCache(cache);
  const { runCli } = await import('../cli/run-cli.ts');
  const code = await runCli({ args: process.argv.slice(2), doctor, run: (command, args) => run(command, cache, args), version });
  process.exitCode = exitCode ?? code;
}

async function doctor(request) {
  const { runDoctor } = await import('./doctor/run-doctor.ts');
  return runDoctor({ out: process.stdout, ...request });
}

/** The reader of a pipe may leave early (`muster tasks | head -1`), which is no failure. */
function leave() {
  process.exit(0);
}

async function run(command, cache, args = []) {
  if (Object.hasOwn(RUNS_ON_PROJECT, command)) {
    await RUNS_ON_PROJECT[command](args);
    return;
  }
  // A fleet stops in order.
  process.stdout.off('error', leave);
  // For the processes that it starts.
  process.env.NODE_COMPILE_CACHE ??= cache;
  if (command === 'start' || command === 'dev') {
    const { checkMachine } = await import('./set-up/provide-node.mjs');
    const { provideRedis } = await import('./set-up/provide-redis.mjs');
    checkMachine();
    await provideRedis({ forTests: false });
  }
  await RUNS[command]();
}

async function runOnNewerNode() {
  // Without the mark, an old Node in the place of a new one would start itself again and again.
  const isTried = process.env.MUSTER_CLI_NODE === 'tried';
  const node = isTried ? null : isClone ? nodeOfClone(root) : await nodeOfProject(process.cwd());
  if (node === null) {
    fail(
      `Muster needs Node 24.20 or newer, and this is ${process.versions.node}: ${isClone ? `run npm start in ${root} first` : 'install one'}.`,
    );
    return;
  }
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: 'inherit', env: { ...process.env, MUSTER_CLI_NODE: 'tried' } });
  // Ctrl-C reaches both, and the child says how it ends; what is sent to this process alone is handed on.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
  child.on('error', (error) => fail(`${node} cannot be started: ${error.message}.`));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
  });
}

function fail(message) {
  console.error(`muster: ${message}`);
  process.exitCode = 1;
}
