import { readHeads } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';
import { ScheduleStore } from '#shared/schedules/index.ts';

export type SubjectParts = Pick<Parts, 'ledger' | 'redis' | 'keys' | 'config' | 'log'>;

/** Which task a notification is about, in words that people know it by. */
export interface Subject {
  agent: string;
  session: string | null;
  source: string;
  /** Of its schedule. */
  scheduleId: string | null;
  number: number | null;
  name: string | null;
}

/** Who these tasks are, by id, as far as they are kept: read together, and without what they were sent. */
export async function readSubjects(parts: SubjectParts, tenant: string, tasks: readonly string[]): Promise<ReadonlyMap<string, Subject>> {
  if (tasks.length === 0) return new Map();
  const heads = await readHeads(parts.ledger, tenant, tasks);
  const named = await readNames(parts, tenant, [...new Set([...heads.values()].flatMap(({ scheduleId }) => scheduleId ?? []))]);
  return new Map(
    [...heads].map(([id, { agent, session, source, scheduleId }]) => {
      const { number = null, name = null } = (scheduleId === null ? undefined : named.get(scheduleId)) ?? {};
      return [id, { agent, session, source, scheduleId, number, name }];
    }),
  );
}

interface Named {
  number: number;
  name: string | null;
}

async function readNames(
  { redis, keys, config, log }: SubjectParts,
  tenant: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Named>> {
  const store = new ScheduleStore({ redis, keys, settings: config.settings, log });
  const found = (await store.read(tenant, ids)).filter((schedule) => schedule !== null);
  return new Map(found.map(({ id, number, name }) => [id, { number, name }]));
}
