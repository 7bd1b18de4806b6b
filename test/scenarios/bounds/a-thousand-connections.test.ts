import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import type { ServiceProcess } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { waitFor } from '../../support/wait-for.ts';

const CONNECTIONS = 1000;
const ROUNDS = 3;
/** Longer than the timeout of a command. */
const STILL_MS = 1500;
/** Long enough for all of them to be served one after the other. */
const ANSWER_MS = 60_000;

let fleet: Fleet;
let api: ServiceProcess;

beforeEach(async () => {
  fleet = await openFleet();
  api = await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
});

/** A call on a connection of its own. Answers its status and code. */
async function callByItself(): Promise<string> {
  const headers = { authorization: `Bearer ${fleet.adminKey}`, 'content-type': 'application/json' };
  const agent = new Agent({ keepAlive: false });
  const sent = request(`${api.url}/v1/tasks`, { method: 'POST', headers, agent, timeout: ANSWER_MS });
  sent.end(JSON.stringify({ agent: 'echo', input: 'one of a thousand' }));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = (await json(response)) as { code?: string };
  return [response.statusCode, body.code].filter((part) => part !== undefined).join(' ');
}

/** As if so many connections kept the process from its timers and its sockets for longer than a command may take. */
async function standStill(): Promise<void> {
  await api.kill('SIGSTOP');
  await wait(STILL_MS);
  await api.kill('SIGCONT');
}

it('a thousand connections at once are all served, and none gets the error that Redis does not answer', async () => {
  const answers: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = answers.length;
    const calling = Array.from({ length: CONNECTIONS }, async () => answers.push(await callByItself()));
    await waitFor(() => answers.length > before, { deadlineMs: ANSWER_MS, everyMs: 1, what: 'the first answer' });
    await standStill();
    await Promise.all(calling);
  }
  const counts = Object.fromEntries([...Map.groupBy(answers, (answer) => answer)].map(([answer, all]) => [answer, all.length]));
  reportFigure('A thousand connections at once', JSON.stringify(counts));
  expect(counts).toEqual({ 202: CONNECTIONS * ROUNDS });
  const missed = api.lines.filter(({ event }) => event === 'redis.lost');
  expect(missed).toEqual([]);
});
