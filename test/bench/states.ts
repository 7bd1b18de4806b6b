import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { acceptNewTask } from '#shared/ledger/accept/accept-task.ts';
import { claimTask } from '#shared/ledger/claim/claim-task.ts';
import { createLedger, type Ledger, ledgerScripts } from '#shared/ledger/ledger.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import { aTask, DONE, TENANT, TestLedger } from '../shared/ledger/support/test-ledger.ts';
import { inFlight } from './in-flight.ts';
import { print } from './print.ts';
import { median } from './statistics.ts';

const ROUNDS = 5;
const TASKS = 3000;
const IN_FLIGHT = 50;
/** What makes the scripts keep every state in full. */
const IN_FULL: [file: string, short: string, full: string][] = [
  [
    'include/accept/admit.lua',
    'if is_ordinary(task, lanes) then save_short(context, intake, id) else save_task(context, id, task) end',
    'append(intake.states, id, cjson.encode(task))',
  ],
  ['include/accept/admit.lua', 'return not (task.collect', 'return false and not (task.collect'],
  ['include/accept/admit.lua', 'if not is_free_now(context, intake, request) then return nil end', 'do return nil end'],
];

const test = await TestLedger.open();
const folder = await mkdtemp(join(tmpdir(), 'muster-states-'));
await cp('shared/ledger/scripts', folder, { recursive: true });
for (const [file, short, full] of IN_FULL) {
  const text = await readFile(join(folder, file), 'utf8');
  if (!text.includes(short)) throw new Error(`${file} has another text now than: ${short}`);
  await writeFile(join(folder, file), text.replace(short, full));
}
const options = { redis: test.redis, keys: test.keys, settings: settingsSchema.parse({}), onTicket: () => undefined };
const short = createLedger({ ...options, limitsOf: () => null });
const full = createLedger({ ...options, limitsOf: () => null }, ledgerScripts(folder));
await rm(folder, { recursive: true });

/** Microseconds of Redis for each task, in scripts. */
async function microseconds(work: (index: number) => Promise<unknown>): Promise<number> {
  await test.redis.config('RESETSTAT');
  await inFlight(TASKS, IN_FLIGHT, work);
  const stats = await test.redis.info('commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=\d+,usec=(\d+)/gm)].reduce((total, [, spent]) => total + Number(spent), 0) / TASKS;
}

interface Round {
  accept: number;
  claim: number;
  settle: number;
  /** Bytes of Redis's memory that a completed task's state takes. */
  bytes: number;
}

async function measure(ledger: Ledger): Promise<Round> {
  await test.redis.flushdb();
  const tasks = Array.from({ length: TASKS }, () => aTask());
  const seen = new Map<string, Parameters<typeof settleAttempt>[3]>();
  const place = (index: number): { tenant: string; id: string; lane: null } => ({
    tenant: TENANT,
    id: tasks[index]?.body.id ?? '',
    lane: null,
  });
  const accept = await microseconds(async (index) => await acceptNewTask(ledger, tasks[index] ?? aTask()));
  const claim = await microseconds(async (index) => {
    const answer = await claimTask(ledger, place(index), 'host-1234-abcd');
    if (answer.kind !== 'claimed') throw new Error(`A task could not be claimed: ${answer.kind}`);
    seen.set(place(index).id, { stored: answer.stored, first: answer.body.first, now: Date.now() });
  });
  const settle = await microseconds(
    async (index) => await settleAttempt(ledger, { ...place(index), token: 1 }, DONE, seen.get(place(index).id)),
  );
  const bytes = Number(await test.redis.memory('USAGE', test.keys.tenant(TENANT).states, 'SAMPLES', 0)) / TASKS;
  return { accept, claim, settle, bytes };
}

try {
  print('\n== Short states against states in full\n');
  print(`${ROUNDS} rounds of each in turn, ${TASKS} tasks, ${IN_FLIGHT} under way; medians of the time that Redis spends in scripts.`);
  const rounds: Record<'short' | 'full', Round[]> = { short: [], full: [] };
  await measure(short);
  await measure(full);
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.short.push(await measure(short));
    rounds.full.push(await measure(full));
  }
  for (const name of ['accept', 'claim', 'settle', 'bytes'] as const) {
    const [one, other] = [rounds.short, rounds.full].map((each) => median(each.map((round) => round[name])));
    const unit = name === 'bytes' ? 'bytes of a state' : `µs of Redis to ${name}`;
    print(`${unit.padEnd(24)} short ${(one ?? 0).toFixed(1).padStart(8)}   full ${(other ?? 0).toFixed(1).padStart(8)}`);
  }
} finally {
  await test.close();
}
