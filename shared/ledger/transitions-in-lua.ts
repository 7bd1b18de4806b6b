import { TRANSITIONS } from '../tasks/index.ts';

/** The table of transitions as the scripts read it. */
export function transitionsInLua(): string {
  const rows = Object.entries(TRANSITIONS).map(([from, to]) => `  ${from} = { ${to.map((status) => `${status} = true`).join(', ')} },`);
  return `local TRANSITIONS = {\n${rows.join('\n')}\n}\n`;
}
