import { afterEach, expect, it } from 'vitest';
import { HubLink } from '#shared/daemons/dispatch/hub-link.ts';
import type { TicketResult } from '#shared/queue/index.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { useParts } from '../../../support/use-parts.ts';

const parts = await useParts();
const links: HubLink[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.stop();
});

/** A hub whose daemons do this with what they are offered. */
function start(hub: string, take: () => Promise<TicketResult> | null): HubLink {
  const link = new HubLink({
    redis: parts.redis,
    keys: parts.keys,
    hub,
    subscribe: (...args) => parts.subscribe(...args),
    offerMs: 300,
    take,
    onAdopted: () => undefined,
    onHeld: () => undefined,
  });
  link.start();
  links.push(link);
  return link;
}

const offer = { daemon: 'd', ticket: { tenant: 'acme', task: 't' }, how: {}, keepsSlot: true };

/** Offers until the other hub listens. */
async function offered(link: HubLink): Promise<{ ended: Promise<TicketResult>; forget: () => void }> {
  return await waitFor(
    async () => {
      const answer = await link.offer('other', offer);
      return answer.outcome === 'taken' ? answer : null;
    },
    { deadlineMs: 20_000, what: 'the other hub to take a task' },
  );
}

it('a mistake while a hub runs what another one offered fails the ticket there, and ends no process', async () => {
  const link = start('one', () => null);
  start('other', () => Promise.reject(new Error('a mistake')));
  const { ended, forget } = await offered(link);
  expect(await ended).toEqual({ kind: 'failed', message: 'a mistake' });
  forget();
  expect(link.open).toBe(0);
}, 30_000);

it('an offer to a hub that died while it ran the task is forgotten when nobody waits for its end', async () => {
  const link = start('one', () => null);
  start('other', () => Promise.withResolvers<TicketResult>().promise);
  const { forget } = await offered(link);
  expect(link.open).toBe(1);
  forget();
  expect(link.open).toBe(0);
}, 30_000);
