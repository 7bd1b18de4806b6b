import { cancelTask } from '#shared/ledger/change-task.ts';
import { SOURCES, type Source } from '#shared/config/sources.ts';
import { DONE, TENANT, TestLedger } from '../../../shared/ledger/support/test-ledger.ts';

/** How sample tasks end. */
export const ENDS = ['completed', 'permanently_failed', 'cancelled', 'skipped'] as const;
export type SampleEnd = (typeof ENDS)[number];

/** What takes the place of the sample's own values. */
export interface RecordValues {
  id: string;
  acceptedAt: number;
  agent: string;
  input: string;
  output: string;
  session: string;
  schedule: string;
  customer: string;
  code: string;
  worker: string;
}

type Slot = keyof RecordValues;

/** A stored text of the sample: fixed parts, slots, and times as milliseconds after the acceptance. */
type Template = (string | { slot: Slot } | { afterMs: number })[];

/** The records that one real task left, which others are copied from. */
export interface SampleRecords {
  body: Template;
  state: Template;
  output: Template | null;
  /** Its members of the tenant's index. */
  lookups: Template[];
}

const SLOTS = ['agent', 'input', 'output', 'session', 'schedule', 'customer', 'code', 'worker'] as const satisfies Slot[];
const TENANT_FIELD = `"tenant":"${TENANT}"`;
const USAGE = { inputTokens: 1200, outputTokens: 300, costMicroUsd: 2400 };
/** A sample ends within a few milliseconds; its copies take so many times as long. */
const SLOWER = 50;

/** Runs one real task of each source and end through the ledger. The key is `<source> <end>`. */
export async function readSamples(): Promise<Map<string, SampleRecords>> {
  const ledger = await TestLedger.open();
  try {
    const samples = new Map<string, SampleRecords>();
    for (const source of SOURCES) {
      for (const end of ENDS) samples.set(`${source} ${end}`, await readSample(ledger, await runSample(ledger, source, end)));
    }
    return samples;
  } finally {
    await ledger.close();
  }
}

async function runSample(ledger: TestLedger, source: Source, end: SampleEnd): Promise<string> {
  const id = await ledger.accepted({
    agent: '~agent~',
    source,
    input: '~input~',
    metadata: { customer: '~customer~' },
    ...(source === 'chat' ? { session: '~session~', lane: { name: 'session:~session~', limit: 1 } } : {}),
    ...(source === 'schedule' ? { scheduleId: '~schedule~' } : {}),
    ...(end === 'skipped' ? { skip: 'the last run goes on' } : {}),
  });
  if (end === 'cancelled') await cancelTask(ledger.ledger, await ledger.place(id), 'no longer wanted');
  if (end === 'completed') {
    await ledger.settle(await ledger.claimed(id, '~worker~'), {
      ...DONE,
      kind: 'completed',
      output: '~output~',
      result: null,
      usage: USAGE,
    });
  }
  if (end === 'permanently_failed') {
    const error = { code: '~code~', message: 'It did not work', retryable: false };
    await ledger.settle(await ledger.claimed(id, '~worker~'), { kind: 'failed', error, delayMs: null, usage: USAGE });
  }
  return id;
}

async function readSample(ledger: TestLedger, id: string): Promise<SampleRecords> {
  const { redis, keys } = ledger;
  const { bodies, states, outputs, index } = keys.tenant(TENANT);
  const [body, state, output] = await Promise.all([bodies, states, outputs].map((key) => redis.hget(key, id)));
  if (!body || !state) throw new Error(`The sample ${id} has no record`);
  const members = (await redis.zrange(index, '0', '-1')).filter((member) => member.endsWith(`/${id}`));
  const { createdAt } = await ledger.state(id);
  const parse = (text: string): Template => parseTemplate(text, id, createdAt);
  return { body: parse(body), state: parse(state), output: output ? parse(output) : null, lookups: members.map(parse) };
}

/** Finds the slots of a stored text, and its times: numbers of 13 digits. */
function parseTemplate(text: string, id: string, createdAt: number): Template {
  const slots = new Map<string, Slot>([[id, 'id'], ...SLOTS.map((slot): [string, Slot] => [`~${slot}~`, slot])]);
  const marks = new RegExp(`(${[...slots.keys()].join('|')}|\\b1\\d{12}\\b)`);
  const tenantless = text.replace(TENANT_FIELD, '"tenant":"default"');
  return tenantless.split(marks).map((part, place) => {
    if (place % 2 === 0) return part;
    const slot = slots.get(part);
    return slot === undefined ? { afterMs: (Number(part) - createdAt) * SLOWER } : { slot };
  });
}

/** Writes a template with other values. */
export function fillTemplate(template: Template, values: RecordValues): string {
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') text += part;
    else text += 'slot' in part ? values[part.slot] : values.acceptedAt + part.afterMs;
  }
  return text;
}
