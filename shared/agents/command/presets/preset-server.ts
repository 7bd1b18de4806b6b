import type { PermissionDecision, PermissionRequest } from '../permissions/permissions.ts';
import type { Transcript, TranscriptOptions } from './preset.ts';

/** How a coding agent runs that asks for permissions over its stdin and stdout. */
export interface PresetServer {
  /** The words of its command as it takes them then, with those that have it serve; in place of the preset's `options`. */
  readonly words: (command: readonly string[]) => readonly string[];
  readonly open: (options: PresetServerOptions) => ServedProgram;
}

export interface PresetServerOptions extends TranscriptOptions {
  readonly prompt: string;
  /** The command of its definition. */
  readonly command: readonly string[];
  /** The folder that it runs in, which may be another one than that of its session before. */
  readonly cwd: string;
  /** The id of the session that it goes on with; null to begin one. */
  readonly session: string | null;
  /** How long it may take for an answer to what begins its run, ms. */
  readonly handshakeMs: number;
  /** Writes to its stdin. */
  readonly send: (text: string) => void;
  /** It gets nothing more, and may end. */
  readonly endInput: () => void;
  /** Ends it. */
  readonly stop: () => void;
  /** See `Permissions.decide`. */
  readonly decide: (request: PermissionRequest) => Promise<Pick<PermissionDecision, 'isAllowed'> | null>;
  readonly warn: (text: string, error?: unknown) => void;
}

/** A program that is served: what it writes is read as that of any other, and some of it answered. */
export interface ServedProgram extends Transcript {
  /** Sends it what begins its run. */
  readonly start: () => void;
  /** Has it stop its work, and ends it then, or soon. */
  readonly interrupt: () => void;
  /** Answers nothing any more. */
  readonly close: () => void;
}
