import { tenantStateInLua } from '../tenants/index.ts';
import { TRANSITIONS } from '../tasks/index.ts';

/** What the scripts of this folder include besides the files in `include/`. */
export function scriptFragments(): Record<string, string> {
  return { transitions: transitionsAsLua(), 'tenant-state': tenantStateInLua() };
}

/** The table of transitions as the scripts read it. */
function transitionsAsLua(): string {
  const rows = Object.entries(TRANSITIONS).map(([from, to]) => `  ${from} = { ${to.map((status) => `${status} = true`).join(', ')} },`);
  return `local TRANSITIONS = {\n${rows.join('\n')}\n}\n`;
}
