import { sign } from '@octokit/webhooks-methods';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readGithubExamples } from '../../services/webhooks/github-examples.ts';
import type { TaskView } from '../../support/fleet/fleet-client.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';

let fleet: Fleet;

afterEach(async () => {
  await fleet.stop();
});

async function countTasks(): Promise<number> {
  let [count, cursor]: [number, string | null] = [0, ''];
  while (cursor !== null) {
    const { body } = await fleet.client.call('GET', `/v1/tasks?source=webhook&limit=200${cursor && `&cursor=${cursor}`}`);
    count += body.items.length;
    cursor = body.nextCursor;
  }
  return count;
}

describe('every webhook of GitHub while workers are killed', () => {
  const KILLS = testEnvironment.isChaos ? { max: 4, min: 3 } : { max: 2, min: 1 };
  const SECRET = 'the-secret-of-the-hook';
  const examples = readGithubExamples();
  const deliveries = firstOf(examples, 120).map(({ event, text }, index) => ({ event, text, delivery: `delivery-${index}` }));
  let hookUrl: string;

  beforeEach(async () => {
    // Few slots, so that the work lasts while several workers are killed.
    fleet = await openFleet({ settings: { worker: { leaseMs: 1000, slots: 3 }, retries: { webhook: { maxAttempts: 5 } } } });
    await fleet.start('api');
    const webhooks = await fleet.start('webhooks');
    // Five of the examples are there twice, byte for byte.
    const draft = { provider: 'github', secret: SECRET, agent: 'work-150', options: { equalBodies: 'each' } };
    const { id } = await fleet.client.make('/v1/hooks', draft, { url: webhooks.url });
    hookUrl = `${webhooks.url}/hooks/${id}`;
  });

  type Delivery = (typeof deliveries)[number];
  const post = async ({ event, text, delivery }: Delivery, signed = text): Promise<{ status: number; id: string | undefined }> => {
    const signature = await sign(SECRET, signed);
    const headers = { 'x-hub-signature-256': signature, 'x-github-event': event, 'x-github-delivery': delivery };
    const { status, body } = await fleet.client.call('POST', '', { url: hookUrl, key: null, headers, body: text });
    return { status, id: body.id };
  };
  /** All of them, ten at a time. */
  const postAll = async (send: (delivery: Delivery) => ReturnType<typeof post>): Promise<Awaited<ReturnType<typeof post>>[]> => {
    const answers: Awaited<ReturnType<typeof post>>[] = [];
    for (let from = 0; from < deliveries.length; from += 10)
      answers.push(...(await Promise.all(deliveries.slice(from, from + 10).map(send))));
    return answers;
  };
  it('makes one task each, which completes once; tampered ones make none, and redelivered ones no second', async () => {
    expect(examples).toHaveLength(329);
    const workers = await Promise.all([fleet.start('worker'), fleet.start('worker')]);
    let kills = 0;
    const chaos = repeatUntilStopped(async () => {
      if (kills === KILLS.max) return;
      // The slower processes start here, the longer only one works, so that several are killed on any machine.
      await workers[kills % 2]?.kill();
      workers[kills % 2] = await fleet.start('worker');
      kills += 1;
    }, 400);

    const sent = await postAll((delivery) => post(delivery));
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 202));
    const ids = sent.map(({ id }) => id ?? '');
    expect(new Set(ids).size).toBe(deliveries.length);
    const tampered = await postAll((delivery) => post({ ...delivery, delivery: `${delivery.delivery}-x` }, `${delivery.text} `));
    expect(tampered.map(({ status }) => status)).toEqual(tampered.map(() => 401));
    const redelivered = await postAll((delivery) => post(delivery));
    expect(redelivered).toEqual(ids.map((id) => ({ status: 200, id })));

    let tasks: TaskView[] = [];
    try {
      tasks = await fleet.client.ended(ids, 90_000);
    } finally {
      await chaos.stop();
    }
    reportFigure(
      `${deliveries.length} webhooks`,
      `${kills} workers killed meanwhile, ${fleet.journal().filter(({ event }) => event === 'start').length} runs`,
    );
    expect(kills).toBeGreaterThanOrEqual(KILLS.min);
    expect(tasks.map(({ status }) => status)).toEqual(ids.map(() => 'completed'));
    expect(await countTasks()).toBe(deliveries.length);
    const successes = await Promise.all(
      ids.map(async (id) => (await fleet.client.attempts(id)).filter(({ status }) => status === 'success').length),
    );
    expect(successes).toEqual(ids.map(() => 1));
  });
});
