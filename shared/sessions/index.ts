/** Conversations: messages that meet running work, queue modes, commands typed by people, transcripts and their lists. */
export { composeInput } from './transcript.ts';
export { type SessionSummary, listSessions } from './list-sessions.ts';
export { readTranscript } from './transcript.ts';
export { type IncomingMessage, type MessageAnswer, type MessageParts, acceptMessage } from './accept-message.ts';
export type { SessionCommand } from './commands.ts';
export { notifySession, sessionTopic } from './session-store.ts';
export { type SessionRecord, readSession } from './session-record.ts';
export { setMode } from './session-store.ts';
export { stopSession } from './commands.ts';
export { countTurns } from './list-turns.ts';
