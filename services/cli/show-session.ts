import type { z } from 'zod';
import type { Clock } from '#shared/time/index.ts';
import { formatTable } from './format-table.ts';
import { plainText } from './plain-text.ts';
import { readAnswer } from './read-answer.ts';
import type { RunContext } from './run-context.ts';
import { sessionViewSchema } from './session-view.ts';
import { shortAge } from './short-time.ts';

/** `muster sessions show`: what runs in a session, what waits and why, and its mode. */
export async function showSession(id: string, { json }: { json?: boolean }, context: RunContext, clock: Clock): Promise<void> {
  const { terminal } = context;
  const answer = await context.connect().get(`/v1/sessions/${encodeURIComponent(id)}`);
  if (json === true) return terminal.json(answer);
  const session = readAnswer(sessionViewSchema, answer);
  const { holder, waiting, waitingTotal } = session;
  terminal.line(terminal.paint(plainText(id), 'bold'));
  const rows = [
    ['', 'mode', describeMode(session)],
    ['', 'turns', String(session.transcriptLength ?? 0)],
    ['', 'runs', holder ? describeHolder(holder, clock.now()) : 'nothing'],
    ['', 'waiting', String(waitingTotal)],
  ];
  for (const line of formatTable(rows)) terminal.line(line);
  if (waiting.length > 0) terminal.line(`\n${terminal.paint('Waiting', 'dim')}`);
  const line = waiting.map(({ position, taskId, reason }) => ['', String(position), taskId, plainText(reason)]);
  for (const each of formatTable(line)) terminal.line(each);
  if (waitingTotal > waiting.length) terminal.line(`  and ${waitingTotal - waiting.length} more`);
}

function describeMode({ mode, modeSource, surface }: z.infer<typeof sessionViewSchema>): string {
  if (modeSource === 'session') return `${mode}, chosen for this session`;
  return `${mode}, the default${modeSource === 'surface' && surface ? ` of ${surface}` : ''}`;
}

interface Holder {
  taskId: string;
  startedAt?: string | null | undefined;
  worker?: string | null | undefined;
  reason?: string | null | undefined;
}

function describeHolder({ taskId, startedAt, worker, reason }: Holder, now: number): string {
  if (startedAt) return `${taskId} for ${shortAge(now - Date.parse(startedAt))}${worker ? ` on ${plainText(worker)}` : ''}`;
  return `${taskId} is next: ${plainText(reason ?? 'it starts now')}`;
}
