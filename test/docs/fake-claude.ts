import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { childEnvironment } from '../support/test-environment.ts';
import { ROOT } from './markdown.ts';

const RECORDED = join(ROOT, 'test/shared/agents/command/presets/transcripts/claude-code-without-parts.jsonl');

/** A PATH with a `claude` that reads its prompt and prints events that Claude Code printed. */
export function pathWithClaude(folder: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'events.jsonl'), readFileSync(RECORDED));
  writeFileSync(join(bin, 'claude'), `#!/bin/sh\ncat > /dev/null\ncat '${join(bin, 'events.jsonl')}'\n`);
  // Where commands have users of their own, they open it too.
  for (const path of [folder, bin, join(bin, 'claude'), join(bin, 'events.jsonl')]) chmodSync(path, 0o755);
  return `${bin}${delimiter}${childEnvironment()['PATH'] ?? ''}`;
}
