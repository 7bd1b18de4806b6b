import { type Ledger, type NumberedEntry, readEntry, readJournal, readTaskRows } from '../../ledger/index.ts';
import { redisNow } from '../../redis/index.ts';
import type { Task } from '../../tasks/index.ts';
import { questionNotFound } from './answer-question.ts';
import { isQuestionId, placeOf, questionOf, type QuestionRecord, type QuestionStatus } from './question.ts';

interface QuestionPage {
  items: QuestionRecord[];
  /** Hand it in as `before` for the next page; null at the end. */
  next: string | null;
}

/** Records one page may read in search of matches. */
const MAX_SCANNED = 1000;
const BATCH = 100;

/**
 * Questions of a tenant, of its newest task first; all of them, or those that stand so. A page may hold fewer than `limit` and still have a `next`
 * when matches are rare.
 */
export async function listQuestions(
  ledger: Ledger,
  tenant: string,
  status: QuestionStatus | undefined,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<QuestionPage> {
  const items: QuestionRecord[] = [];
  let cursor = before ?? null;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += BATCH) {
    const ids = status === 'open' ? await openBefore(ledger, tenant, cursor) : await idsBefore(ledger, tenant, cursor);
    const fitting = (await readQuestions(ledger, tenant, ids)).filter((question) => status === undefined || question.status === status);
    const taken = fitting.slice(0, limit - items.length);
    items.push(...taken);
    if (taken.length < fitting.length) return { items, next: taken.at(-1)?.id ?? cursor };
    if (ids.length < BATCH) return { items, next: null };
    cursor = ids.at(-1) ?? null;
    if (items.length === limit) break;
  }
  return { items, next: cursor };
}

async function idsBefore({ redis, keys }: Ledger, tenant: string, cursor: string | null): Promise<string[]> {
  const high = cursor === null ? '+' : `(${cursor}`;
  return await redis.zrevrangebylex(keys.tenant(tenant).questions, high, '-', 'LIMIT', 0, BATCH);
}

/** What the gate holds runs for, listed by the script that suspends them, and what runs ask while they go on. */
const OPEN = ['hold=question:', 'asking='] as const;

/** Open questions of a tenant, those of the oldest tasks first. */
export async function oldestOpenQuestions(ledger: Ledger, tenant: string, limit: number): Promise<QuestionRecord[]> {
  const { redis, keys } = ledger;
  const { live } = keys.tenant(tenant);
  const found = await Promise.all(OPEN.map((prefix) => redis.zrangebylex(live, `[${prefix}`, `(${prefix}\u00ff`, 'LIMIT', 0, limit)));
  const ids = found.flatMap((members, at) => members.map((member) => idOf(member, OPEN[at])));
  const oldest = ids.toSorted().slice(0, limit);
  return (await readQuestions(ledger, tenant, oldest)).filter(({ status }) => status === 'open');
}

interface OpenQuestions {
  open: number;
  /** When the oldest was asked, ms since the epoch; null for none. */
  oldestAt: number | null;
}

/** Among so many of the oldest tasks is the oldest question: the list is in the order of tasks. */
const OLDEST_AMONG = 20;

/** How many questions of a tenant are open, counted without reading them. */
export async function countOpenQuestions(ledger: Ledger, tenant: string): Promise<OpenQuestions> {
  const { redis, keys } = ledger;
  const { live } = keys.tenant(tenant);
  const counts = await Promise.all(OPEN.map((prefix) => redis.zlexcount(live, `[${prefix}`, `(${prefix}\u00ff`)));
  const open = counts.reduce((sum, count) => sum + count, 0);
  if (open === 0) return { open, oldestAt: null };
  const asked = (await oldestOpenQuestions(ledger, tenant, OLDEST_AMONG)).map(({ askedAt }) => askedAt);
  return { open, oldestAt: asked.length === 0 ? null : Math.min(...asked) };
}

function idOf(member: string, prefix = ''): string {
  return member.slice(prefix.length, member.indexOf('/'));
}

async function openBefore({ redis, keys }: Ledger, tenant: string, cursor: string | null): Promise<string[]> {
  const { live } = keys.tenant(tenant);
  const found = await Promise.all(
    OPEN.map((prefix) => redis.zrevrangebylex(live, `(${prefix}${cursor ?? '\u00ff'}`, `[${prefix}`, 'LIMIT', 0, BATCH)),
  );
  const ids = found.flatMap((members, at) => members.map((member) => idOf(member, OPEN[at])));
  return ids.toSorted().toReversed().slice(0, BATCH);
}

/** Of these those that there are, in their order. */
export async function readQuestions(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<QuestionRecord[]> {
  const places = ids.map((id) => placeOf(id));
  const [tasks, entries, now] = await Promise.all([
    readTaskRows(ledger, tenant, [...new Set(places.map(({ task }) => task))]),
    Promise.all(places.map(({ task, seq }) => readEntry(ledger, { tenant, id: task }, seq))),
    redisNow(ledger.redis),
  ]);
  const byId = new Map(tasks.flatMap((task) => (task ? [[task.body.id, task] as const] : [])));
  return ids.flatMap((id, at) => {
    const question = asQuestion(byId.get(places[at]?.task ?? ''), entries[at] ?? null, now);
    return question?.id === id ? [question] : [];
  });
}

function asQuestion(task: Task | undefined, entry: NumberedEntry | null, now: number): QuestionRecord | null {
  return task === undefined || entry?.kind !== 'question' || entry.wait === undefined ? null : questionOf(task, entry, now);
}

/** One question. Errors: `question.not-found`. */
export async function findQuestion(ledger: Ledger, tenant: string, id: string): Promise<QuestionRecord> {
  const question = await findKeptQuestion(ledger, tenant, id);
  if (question === null) throw questionNotFound(id);
  return question;
}

/** The same; null for one that is not kept. */
export async function findKeptQuestion(ledger: Ledger, tenant: string, id: string): Promise<QuestionRecord | null> {
  const [question = null] = isQuestionId(id) ? await readQuestions(ledger, tenant, [id]) : [];
  return question;
}

/** The questions of a task, in their order. */
export async function questionsOfTask(ledger: Ledger, task: Task): Promise<QuestionRecord[]> {
  const [{ entries }, now] = await Promise.all([readJournal(ledger, task.body), redisNow(ledger.redis)]);
  return entries.flatMap((entry) => asQuestion(task, entry, now) ?? []);
}
