import { QUEUE_MODES, type QueueMode } from '../config/queue-mode.ts';

/** A mode, or a word that clears the choice of one. */
export type ModeWord = QueueMode | 'default';

/**
 * What a message says:
 *
 * - `text`: for the agent, in the mode that it names itself, if any
 * - `command`: a word that only looks like one is for whoever knows the commands to see
 * - `mode`: `/queue <mode>` and nothing else
 * - `unknown-mode`: `/queue` before a word that is none
 */
export type ParsedMessage =
  | { kind: 'text'; text: string; mode: ModeWord | null }
  | { kind: 'command'; name: string; argument: string }
  | { kind: 'mode'; mode: ModeWord }
  | { kind: 'unknown-mode'; word: string };

/** In a group, Telegram names the bot behind the command. */
const COMMAND = /^\/([a-z][a-z0-9_-]{0,31})(?:@\S+)?(?:\s+([\s\S]*))?$/i;
/** At the beginning anything behind `/queue` is meant as a mode; within a text only a whole word is, so that one may write about it. */
const MODE_FIRST = /^\/queue(?:@\S+)?\s+(\S+)(?=\s|$)/i;
const MODE_WITHIN = /\s\/queue(?:@\S+)?\s+([a-z]+)(?=\s|$)/i;

/** Reads the commands and the mode out of a message. */
export function parseMessage(text: string): ParsedMessage {
  const trimmed = text.trim();
  const named = MODE_FIRST.exec(trimmed) ?? MODE_WITHIN.exec(trimmed);
  if (named) return withMode(trimmed, named);
  const [, name, argument = ''] = COMMAND.exec(trimmed) ?? [];
  return name === undefined ? { kind: 'text', text, mode: null } : { kind: 'command', name: name.toLowerCase(), argument: argument.trim() };
}

function withMode(text: string, { 0: words, 1: word = '', index }: RegExpExecArray): ParsedMessage {
  const mode = modeOf(word.toLowerCase());
  if (mode === null) return { kind: 'unknown-mode', word };
  const before = text.slice(0, index).trimEnd();
  const after = text.slice(index + words.length);
  if (before === '' && after.trim() === '') return { kind: 'mode', mode };
  return { kind: 'text', text: `${before}${before === '' ? after.trimStart() : after}`, mode };
}

function modeOf(word: string): ModeWord | null {
  if (word === 'default' || word === 'reset') return 'default';
  return QUEUE_MODES.find((mode) => mode === word) ?? null;
}
