import type { AgentAttachment } from '../config/index.ts';
import { isUntrusted, type Ledger, parentLookup, readHeads, readLookup, readTasks } from '../ledger/index.ts';
import { extractDirectives, hasDirective } from '../schedules/index.ts';
import { readTranscript } from '../sessions/index.ts';
import type { TaskBody } from '../tasks/index.ts';
import type { AttemptFiles } from './attempt/attempt-files.ts';

/** What an agent was given besides what it was asked: others wrote it, and its directives are no orders. */
export interface OutsideTexts {
  /** Whether some of it goes back to somebody who may give no orders. */
  untrusted: boolean;
  /** Whether a line stands in it, however it is quoted there. */
  has: (line: string) => boolean;
}

/** Tasks of a tree looked at, and read at once. One with more counts as untrusted: what is behind them must not be overlooked. */
const MAX_SUB_TASKS = 1000;
const PAGE = 100;
/** Bytes of one file that is searched. What a model reads in a picture or a longer file is not found. */
const MAX_FILE_BYTES = 1_048_576;

/** The outputs of the tasks that it delegated or was delegated with, what was left of earlier answers in its session, what its tools gave, and files: its own, and those of the tasks above it. */
export async function readOutsideTexts(ledger: Ledger, body: TaskBody, { files, heard }: RunTexts): Promise<OutsideTexts> {
  const { untrusted, outputs } = await readTree(ledger, body);
  if (untrusted) return { untrusted, has: () => false };
  const inFiles = await readFiles([...files.opened, ...(await openFilesAbove(ledger, body, files))]);
  if (inFiles === null) return { untrusted, has: () => true };
  const texts = [...outputs, ...(await readEarlierAnswers(ledger, body)), ...answersIn(body), ...inFiles, ...heard].map(wordsOf);
  return { untrusted, has: (line) => texts.some((text) => text.includes(wordsOf(line))) };
}

/** What a run has read besides: its files, and what tools and events told it. */
interface RunTexts {
  files: TaskFiles;
  heard: readonly string[];
}

type TaskFiles = Pick<AttemptFiles, 'opened' | 'openKept'>;

/** Letters and digits only: who quotes leaves out or adds marks, breaks of lines, and characters that nobody sees. */
function wordsOf(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/[\p{Cf}\0]/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** All that was delegated below the root of a task: the answer of one sub-task may be in the words of the next. */
async function readTree(ledger: Ledger, { tenant, id, rootTaskId }: TaskBody): Promise<{ untrusted: boolean; outputs: string[] }> {
  const outputs: string[] = [];
  const parents = [rootTaskId ?? id];
  let count = 0;
  for (let parent = parents.shift(); parent !== undefined; parent = parents.shift()) {
    const lookup = parentLookup(ledger, tenant, parent);
    let before: string | null = null;
    do {
      const ids = await readLookup(ledger, lookup, { low: '', before, max: PAGE });
      count += ids.length;
      if (count > MAX_SUB_TASKS || (await hasUntrusted(ledger, tenant, ids))) return { untrusted: true, outputs: [] };
      outputs.push(...(await readOutputs(ledger, tenant, ids)));
      parents.push(...ids);
      before = ids.length < PAGE ? null : (ids.at(-1) ?? null);
    } while (before !== null);
  }
  return { untrusted: false, outputs };
}

async function hasUntrusted(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<boolean> {
  for (const head of (await readHeads(ledger, tenant, ids)).values()) {
    if (await isUntrusted(ledger, { ...head, tenant })) return true;
  }
  return false;
}

async function readOutputs(ledger: Ledger, tenant: string, ids: readonly string[]): Promise<string[]> {
  const tasks = await readTasks(ledger, tenant, ids);
  return tasks.flatMap((task) => (task?.output && hasDirective(task.output) ? [task.output] : []));
}

/** What other agents answered, and of the agent's own answers the directives that were left as they are: it may repeat both. */
async function readEarlierAnswers(ledger: Ledger, { tenant, id, session, agent }: TaskBody): Promise<string[]> {
  const turns = session === null ? [] : await readTranscript(ledger, tenant, session, { before: id });
  const heads = await readHeads(
    ledger,
    tenant,
    turns.map(({ taskId }) => taskId),
  );
  return turns.flatMap(({ taskId, output }) =>
    heads.get(taskId)?.agent === agent ? extractDirectives(output, Infinity).directives.map(({ line }) => line) : [output],
  );
}

/** What its request says was answered before, and what functions gave. */
function answersIn({ request }: TaskBody): string[] {
  const messages = [...(request?.before ?? []), ...(request?.after ?? [])];
  return messages.filter(({ role }) => role !== 'user').map(({ text }) => text);
}

/** The files of the tasks that it descends from: who delegates may pass on what stands there. */
async function openFilesAbove(ledger: Ledger, { tenant, parentTaskId }: TaskBody, files: TaskFiles): Promise<AgentAttachment[]> {
  const found: AgentAttachment[] = [];
  for (let above = parentTaskId; above !== null;) {
    const [task] = await readTasks(ledger, tenant, [above]);
    const attachments = task?.body.attachments ?? [];
    if (attachments.length > 0) found.push(...(await files.openKept({ task: above, attachments })));
    above = task?.body.parentTaskId ?? null;
  }
  return found;
}

/** Null when one of them cannot be read any more: then any line may stand in it. */
async function readFiles(files: readonly AgentAttachment[]): Promise<string[] | null> {
  const texts: string[] = [];
  for (const { bytes, read } of files) {
    if (bytes > MAX_FILE_BYTES) continue;
    const data = await read().catch(() => null);
    if (data === null) return null;
    texts.push(data.toString('utf8'));
  }
  return texts;
}
