import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { sessionViewSchema } from './session-view.ts';

/** `muster sessions mode`: chooses what becomes of messages that meet a running task; `default` or `reset` takes the choice back. */
export async function setSessionMode(id: string, mode: string, { json }: { json?: boolean }, context: RunContext): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().put(`/v1/sessions/${encodeURIComponent(id)}/mode`, { body: { mode } });
  if (json === true) return terminal.json(answer);
  const now = readAnswer(sessionViewSchema, answer);
  terminal.line(`The mode is ${now.mode}${now.modeSource === 'session' ? '.' : ', the default again.'}`);
}
