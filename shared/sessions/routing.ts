import { QUEUE_MODES, type QueueMode, type Settings } from '../config/index.ts';
import type { Intake } from '../queue/index.ts';
import type { SessionChoices } from './session-store.ts';

/** A mode, or a word that clears the choice of one. */
export type ModeWord = QueueMode | 'default';

/**
 * The meaning of a message:
 *
 * - `text`: for the agent, in the mode that it names itself, if any
 * - `command`: a word in the form of one, whether or not such a command exists
 * - `mode`: `/queue <mode>` and nothing else
 * - `unknown-mode`: `/queue` before a word that is no mode
 */
export type ParsedMessage =
  | { kind: 'text'; text: string; mode: ModeWord | null }
  | { kind: 'command'; name: string; argument: string }
  | { kind: 'mode'; mode: ModeWord }
  | { kind: 'unknown-mode'; word: string };

/** In a group, Telegram names the bot behind the command. */
const COMMAND = /^\/([a-z][a-z0-9_-]{0,31})(?:@\S+)?(?:\s+([\s\S]*))?$/i;
/** At the beginning anything behind `/queue` is meant as a mode; within a text only a mode is, or what is nearly one. */
const MODE_FIRST = /^\/queue(?:@\S+)?\s+(\S+)(?=\s|$)/i;
const MODE_WITHIN = /\s\/queue(?:@\S+)?\s+([a-z]+)(?=\s|$)/i;

/** Finds the command or the mode in a message's text. */
export function parseMessage(text: string): ParsedMessage {
  const trimmed = text.trim();
  const named = MODE_FIRST.exec(trimmed) ?? modeWithin(trimmed);
  if (named) return withMode(trimmed, named);
  const [, name, argument = ''] = COMMAND.exec(trimmed) ?? [];
  return name === undefined ? { kind: 'text', text, mode: null } : { kind: 'command', name: name.toLowerCase(), argument: argument.trim() };
}

/** People may write about `/queue` itself; a mistyped mode is not sent to the agent. */
function modeWithin(text: string): RegExpExecArray | null {
  const named = MODE_WITHIN.exec(text);
  const word = named?.[1]?.toLowerCase() ?? '';
  return MODE_WORDS.some((mode) => isNearly(word, mode)) ? named : null;
}

/** The same word, or one letter in it is another, missing, added or in its neighbour's place. */
function isNearly(word: string, meant: string): boolean {
  let start = 0;
  while (start < word.length && word[start] === meant[start]) start += 1;
  if (start === word.length && start === meant.length) return true;
  const rests = [word.slice(start), meant.slice(start)] as const;
  const [rest, other] = rests;
  if (rest.slice(1) === other.slice(1) || rest.slice(1) === other || rest === other.slice(1)) return true;
  return rest.slice(2) === other.slice(2) && rest[0] === other[1] && rest[1] === other[0];
}

function withMode(text: string, { 0: words, 1: word = '', index }: RegExpExecArray): ParsedMessage {
  const mode = modeOf(word.toLowerCase());
  if (mode === null) return { kind: 'unknown-mode', word };
  const before = text.slice(0, index).trimEnd();
  const after = text.slice(index + words.length);
  if (before === '' && after.trim() === '') return { kind: 'mode', mode };
  return { kind: 'text', text: `${before}${before === '' ? after.trimStart() : after}`, mode };
}

const MODE_WORDS: readonly string[] = [...QUEUE_MODES, 'default', 'reset'];

function modeOf(word: string): ModeWord | null {
  if (word === 'default' || word === 'reset') return 'default';
  return QUEUE_MODES.find((mode) => mode === word) ?? null;
}

interface AgentRequest {
  tenant: string;
  agent?: string | undefined;
  surface: string;
  channel?: string | undefined;
  user?: string | undefined;
}

/** The agent of a message: its own choice, else the first fitting rule's, else the default, `assistant` or `echo`. */
export async function chooseAgent(parts: Intake, message: AgentRequest): Promise<string> {
  if (message.agent !== undefined) return message.agent;
  const { agents, agent } = parts.ledger.settings.routing;
  const rule = agents.find(
    ({ surface, channel, user }) => fits(surface, message.surface) && fits(channel, message.channel) && fits(user, message.user),
  );
  const named = rule?.agent ?? agent;
  if (named !== undefined) return named;
  return (await parts.findAgent(message.tenant, 'assistant')) ? 'assistant' : 'echo';
}

/** A field that a rule does not name fits anything. */
function fits(wanted: string | undefined, actual: string | undefined): boolean {
  return wanted === undefined || wanted === actual;
}

/** Where a mode comes from: the message itself, the session's choice, its surface's setting, or the setting for all. */
export type ModeSource = 'message' | 'session' | 'surface' | 'global';

export interface ChosenMode {
  mode: QueueMode;
  source: ModeSource;
}

/** Web chat is Muster's own, and the surface of a message that names none. */
export const DEFAULT_SURFACE = 'webchat';

interface ModeRequest {
  inline: ModeWord | null;
  /** Whether the person may reach or stop what runs. Defaults to true. */
  canSteer?: boolean;
  choices: Pick<SessionChoices, 'mode'>;
  surface: string;
}

/** The mode of a message: its own, else the session's, else its surface's, else the default. Without the right to steer it only waits. */
export function chooseMode({ routing }: Settings, { inline, canSteer = true, choices, surface }: ModeRequest): ChosenMode {
  if (!canSteer) return { mode: 'collect', source: 'message' };
  if (inline !== null && inline !== 'default') return { mode: inline, source: 'message' };
  if (choices.mode !== null) return { mode: choices.mode, source: 'session' };
  const { bySurface, mode } = routing.queue;
  const own = Object.hasOwn(bySurface, surface) ? bySurface[surface] : undefined;
  return own === undefined ? { mode, source: 'global' } : { mode: own, source: 'surface' };
}
