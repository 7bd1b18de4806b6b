import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure, spread } from '../../support/fleet/figures.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

let fleet: Fleet;

beforeEach(async () => {
  fleet = await openFleet();
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

const SECOND = 1000;
/** Between two moments of a tick at which a scheduler is killed. */
const STEP_MS = testEnvironment.isChaos ? 50 : 250;

interface Run {
  occurrence: string;
  status: string;
  startedAt: string | null;
}

async function runsOf(schedule: string): Promise<Run[]> {
  const { body } = await fleet.client.call('GET', `/v1/schedules/${schedule}/runs?limit=100`);
  return body.items.toReversed();
}

describe('the clock heals', () => {
  it('whenever within a tick the scheduler that may have taken it is killed: every occurrence fires, each once', async () => {
    await Promise.all([fleet.start('worker'), fleet.start('scheduler')]);
    const { id } = await fleet.client.make('/v1/schedules', { every: '1s', agent: 'echo', message: 'x', overlap: 'allow' });
    let victim = await fleet.start('scheduler');
    for (let offset = 0; offset < SECOND; offset += STEP_MS) {
      await wait(SECOND - (Date.now() % SECOND) + offset);
      await victim.kill();
      victim = await fleet.start('scheduler');
    }
    const killedUntil = Date.now();
    const ended = async (): Promise<Run[] | undefined> => {
      const runs = await runsOf(id);
      const isPast = Date.parse(runs.at(-1)?.occurrence ?? '') > killedUntil;
      return isPast && runs.every(({ status }) => status === 'succeeded') ? runs : undefined;
    };
    const runs = await waitFor(ended, { deadlineMs: 20_000, everyMs: 200, what: 'every run to succeed' });

    const times = runs.map(({ occurrence }) => Date.parse(occurrence));
    const first = times[0] ?? 0;
    expect(times).toEqual(times.map((_, index) => first + index * SECOND));
    reportFigure(
      'a scheduler killed at each moment of a tick: fired after',
      spread(runs.map((run) => Date.parse(run.startedAt ?? '') - Date.parse(run.occurrence))),
    );
  });
});
