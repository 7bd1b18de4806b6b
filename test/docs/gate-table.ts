import { WAIT_GATES } from '#shared/errors/gates.ts';
import type { GateKinds } from '#shared/ledger/gate-kind.ts';
import { readPage } from './markdown.ts';

/** A row for each gate: its name, why a task waits there, what it lets through, the order of its line, and what opens it. */
export function gateRows(kinds: GateKinds): string[] {
  return WAIT_GATES.map((gate) => {
    const { waits = '', limit = '', order = null, opens = '' } = kinds[gate] ?? {};
    return `| \`${gate}\` | ${waits} | ${limit} | ${order ?? '-'} | ${opens} |`;
  });
}

/** The rows of docs/limits.md. */
export function documentedGates(): string[] {
  const section = readPage('docs/limits.md').split('## Why a task waits\n')[1]?.split('\n## ')[0] ?? '';
  return section.split('\n').filter((line) => line.startsWith('| `'));
}
