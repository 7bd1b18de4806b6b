/** Conversations: messages that meet running work, queue modes, commands typed by people, transcripts and their lists. */
export { composeInput } from './compose-input.ts';
export { type SessionSummary, listSessions } from './list-sessions.ts';
export { readTranscript } from './read-transcript.ts';
export { type IncomingMessage, type MessageAnswer, type SessionParts, receiveMessage } from './receive-message.ts';
export type { SessionCommand } from './session-command.ts';
export { hintSession, sessionTopic } from './session-hint.ts';
export { type SessionRecord, readSession } from './session-record.ts';
export { setMode } from './session-store.ts';
export { stopSession } from './stop-session.ts';
export { transcriptLength } from './transcript-length.ts';
