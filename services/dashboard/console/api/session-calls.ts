import { z } from 'zod';
import { callApi } from './call-api.ts';
import {
  listOf,
  outcomeSchema,
  sessionSchema,
  sessionSummarySchema,
  taskStatusSchema,
  type Session,
  type SessionSummary,
} from './records.ts';

const SHOWN = 100;
const sessionsSchema = listOf(sessionSummarySchema);

/** What sending answers: the task that the message became, or what a command in it says. */
const sentSchema = z.union([
  z.object({ id: z.string(), status: taskStatusSchema, outcome: outcomeSchema.nullish() }),
  z.object({ command: z.string(), text: z.string() }),
]);
export type Sent = z.infer<typeof sentSchema>;

const pathOf = (session: string): string => `/v1/sessions/${encodeURIComponent(session)}`;

export async function readSessions(signal: AbortSignal): Promise<SessionSummary[]> {
  return (await callApi(sessionsSchema, `/v1/sessions?limit=${SHOWN}`, { signal })).items;
}

export async function readSession(session: string, signal: AbortSignal): Promise<Session> {
  return await callApi(sessionSchema, pathOf(session), { signal });
}

/** With the same key again it is the same message. */
export async function sendMessage(session: string, message: { text: string; agent?: string }, key: string): Promise<Sent> {
  return await callApi(sentSchema, `${pathOf(session)}/messages`, { method: 'POST', body: message, headers: { 'Idempotency-Key': key } });
}

/** Withdraws what waits, then stops what runs. */
export async function stopSession(session: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(session)}/stop`, { method: 'POST' });
}

export async function setSessionMode(session: string, mode: string): Promise<void> {
  await callApi(z.unknown(), `${pathOf(session)}/mode`, { method: 'PUT', body: { mode } });
}

export function sessionStreamPath(session: string): string {
  return `${pathOf(session)}/stream`;
}
