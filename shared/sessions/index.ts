/**
 * Conversations. `handleMessage` is the entry: a message is a command and runs, or it becomes a task of its session, for the agent and mode
 * that `routing` chooses. Beside it: what people chose for a session, its record, its transcript, and lists of sessions.
 */
export { type SessionCommand, stopSession } from './commands.ts';
export type { PressedChoice } from './answer-in-session.ts';
export { answerByButton, type MessageAnswer, type MessageParts, handleMessage } from './handle-message.ts';
export type { IncomingMessage } from './incoming-message.ts';
export { type SessionSummary, listSessions } from './list-sessions.ts';
export { sessionOfThread } from './reporting-runs.ts';
export { type SessionRecord, readSession } from './session-record.ts';
export { notifySession, readTranscriptStart, sessionTopic, setMode } from './session-store.ts';
export { composeInput, countTurns, readResponseChain, readTranscript } from './transcript.ts';
