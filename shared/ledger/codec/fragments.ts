import { TASK_QUEUES } from '../../config/index.ts';
import { TRANSITIONS } from '../../tasks/index.ts';
import { tenantStateInLua } from '../../tenants/index.ts';
import { BODY_LAYOUT } from './body.ts';

/** What the scripts include besides the files in `scripts/include`. */
export function scriptFragments(): Record<string, string> {
  return { transitions: transitionsAsLua(), 'body-layout': bodyLayoutAsLua(), 'tenant-state': tenantStateInLua(), queues: queuesAsLua() };
}

/** The table of transitions: the type of the event by both states, an empty text for none. */
function transitionsAsLua(): string {
  const rows = Object.entries(TRANSITIONS).map(([from, transitions]) => {
    const events = Object.entries(transitions).map(([to, { event }]) => `${to} = '${event}'`);
    return `  ${from} = { ${events.join(', ')} },`;
  });
  return `local TRANSITIONS = {\n${rows.join('\n')}\n}\n`;
}

/** A number for each queue; stored scores hold it, so that the order stays. */
function queuesAsLua(): string {
  return `local QUEUE_NUMBERS = { ${TASK_QUEUES.map((name, number) => `${name} = ${number}`).join(', ')} }\n`;
}

/** How `bodyText` lays out a body. */
function bodyLayoutAsLua(): string {
  return Object.entries(BODY_LAYOUT)
    .map(([name, text]) => `local BODY_${name.toUpperCase()} = '${text}'\n`)
    .join('');
}
