import type { QueueMode, Settings } from '../config/index.ts';
import type { Intake } from '../queue/index.ts';
import type { ModeWord } from './parse-message.ts';
import type { SessionChoices } from './session-store.ts';

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
  choices: Pick<SessionChoices, 'mode'>;
  surface: string;
}

/** The mode of a message: its own, else the session's, else its surface's, else the default. */
export function chooseMode({ routing }: Settings, { inline, choices, surface }: ModeRequest): ChosenMode {
  if (inline !== null && inline !== 'default') return { mode: inline, source: 'message' };
  if (choices.mode !== null) return { mode: choices.mode, source: 'session' };
  const { bySurface, mode } = routing.queue;
  const own = Object.hasOwn(bySurface, surface) ? bySurface[surface] : undefined;
  return own === undefined ? { mode, source: 'global' } : { mode: own, source: 'surface' };
}
