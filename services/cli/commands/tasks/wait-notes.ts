import { wait } from '#shared/time/index.ts';
import { type ApiClient, readAnswer } from '../../client/api-client.ts';
import type { Terminal } from '../../output/terminal.ts';
import { describeWait, whySchema } from './explain-task.ts';

/** Most tasks start sooner, and need no words. */
const FIRST_MS = 2000;
const NEXT_MS = 5000;

interface WaitOptions {
  api: ApiClient;
  terminal: Terminal;
  /** Aborted once the task runs, or nobody reads about it any more. */
  signal: AbortSignal;
}

/** Says why a task does not start yet, when that takes a while, and again when the reason changes. Never rejects. */
export async function noteWaits(id: string, { api, terminal, signal }: WaitOptions): Promise<void> {
  let last = '';
  for (let pauseMs = FIRST_MS; await wait(pauseMs, signal); pauseMs = NEXT_MS) {
    const reasons = (await readReasons(api, id)).filter((reason) => !isSoonOver(reason, Date.now()));
    const gates = reasons.map(({ gate, detail }) => `${gate} ${detail}`).join('\n');
    if (signal.aborted || gates === last) continue;
    last = gates;
    for (const reason of reasons) terminal.note(terminal.paintNote(describeWait(reason, Date.now()), 'dim'));
  }
}

/** The line of a failure has the time of its retry: only a long delay until then needs a note of its own. */
function isSoonOver({ gate, until }: Parameters<typeof describeWait>[0], now: number): boolean {
  return gate === 'retry' && until !== null && until !== undefined && Date.parse(until) - now < NEXT_MS;
}

/** None when the server does not say: the task goes on all the same. */
async function readReasons(api: ApiClient, id: string): Promise<Parameters<typeof describeWait>[0][]> {
  try {
    return readAnswer(whySchema, await api.get(`/v1/tasks/${encodeURIComponent(id)}/why`)).reasons;
  } catch {
    return [];
  }
}
