import { defineAgent, defineTool, type Tool } from 'muster/config';
import { z } from 'zod';

interface Order {
  customer: string;
  cents: number;
}

/** Where yours asks its shop. */
const ORDERS: ReadonlyMap<string, Order> = new Map([
  ['A-17', { customer: 'anna', cents: 1900 }],
  ['B-4', { customer: 'ben', cents: 12_500 }],
]);

/** Cents that are paid back without asking anybody. */
const FREE_CENTS = 5000;

/** What its model may do. `once` gives a payment the same key however often the call is tried, so that the shop can drop what comes twice. */
const tools: Readonly<Record<string, Tool>> = {
  find_order: defineTool({
    description: 'Finds an order by its number. Gives its customer, and what was paid in cents.',
    input: z.object({ number: z.string() }),
    run: ({ number }) => ORDERS.get(number) ?? `There is no order ${number}`,
  }),
  refund: defineTool({
    description: 'Pays back an order, or a part of it. A person has to approve more than 50 USD.',
    input: z.object({ number: z.string(), cents: z.number().int().min(1) }),
    approve: ({ cents }) => cents > FREE_CENTS,
    run: ({ number, cents }, { once, log }) => {
      const key = once('refund');
      log.info({ number, cents, key }, 'paid back');
      return `Paid back ${(cents / 100).toFixed(2)} USD of order ${number}`;
    },
  }),
};

/**
 * Answers customers with two tools, one of which may need an approval: an example of an agent whose model does things. In a chat the question comes
 * as buttons to its session; say `to` in a question of your own where others approve.
 */
export const support = defineAgent({
  name: 'support',
  run: async (input, { agent, history }) => {
    const turns = await history();
    const before = turns.map((turn) => `Customer: ${turn.input}\nYou: ${turn.output}`).join('\n');
    return await agent({
      instructions: `You help customers of a shop. Look an order up before you promise anything.\n${before}`,
      input,
      tools,
      maxSteps: 10,
      stream: true,
    });
  },
});
