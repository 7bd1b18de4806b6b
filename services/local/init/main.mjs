#!/usr/bin/env node
// The command of the package create-muster-fleet, whose package.json has its version.
import { readFileSync } from 'node:fs';
import { runInit } from './run-init.mjs';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
process.exitCode = runInit(process.argv.slice(2), {
  command: 'create-muster-fleet',
  release: version,
  out: process.stdout,
  err: process.stderr,
});
