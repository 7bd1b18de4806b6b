import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { defineTool } from '#shared/config/define-config.ts';
import { wait } from '#shared/time/wait.ts';

/** What tools did, a line each: the key of the call outward, the input, and the process. */
export const TOOL_EFFECTS = 'tool-effects.ndjson';

export interface ToolEffect {
  key: string;
  n: number;
  pid: number;
}

const input = z.object({ n: z.number() });

function effect(n: number, key: string): void {
  const line: ToolEffect = { key, n, pid: process.pid };
  appendFileSync(join(process.cwd(), TOOL_EFFECTS), `${JSON.stringify(line)}\n`);
}

export const tools = {
  note: defineTool({
    description: 'Notes a number.',
    input,
    run: async ({ n }, { once }) => {
      effect(n, once('note'));
      await wait(100);
      return { noted: n };
    },
  }),
  refund: defineTool({
    description: 'Gives money back.',
    input,
    approve: ({ n }) => n > 10,
    run: ({ n }, { once }) => {
      effect(n, once('refund'));
      return `refunded ${n}`;
    },
  }),
  broken: defineTool({
    description: 'Fails.',
    input,
    run: () => {
      throw new Error('the shop is closed');
    },
  }),
};
