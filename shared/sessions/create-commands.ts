import type { Ledger } from '../ledger/ledger.ts';
import { readSession } from './session-record.ts';
import type { SessionCommand } from './session-command.ts';
import { beginTranscript, readChoices } from './session-store.ts';
import { chooseMode } from './choose-mode.ts';
import { describeMode, HOW_TO_CHOOSE } from './describe-mode.ts';
import { describeSession } from './describe-session.ts';
import { stopSession } from './stop-session.ts';

const HELP = [
  '/stop withdraws what waits and stops what runs',
  '/new begins a fresh transcript: the agent no longer sees what came before',
  '/status says what runs, what waits and why',
  '/queue shows what becomes of a message that arrives while the agent works; /queue <mode> chooses it for this session',
  '/queue <mode> with a text sends that text in that mode, this once',
  '/help shows this',
];

/** The commands that every session has, and those of others; a name that is none of them is text for the agent. */
export function createCommands(ledger: Ledger, others: Readonly<Record<string, SessionCommand>>): ReadonlyMap<string, SessionCommand> {
  const own: Record<string, SessionCommand> = {
    queue: async ({ tenant, session, surface }) => {
      const choices = await readChoices(ledger, tenant, session);
      return `${describeMode(chooseMode(ledger.settings, { inline: null, choices, surface }), surface)} ${HOW_TO_CHOOSE}`;
    },
    stop: async ({ tenant, session, argument }) => {
      const { withdrawn, stopped } = await stopSession(ledger, tenant, session, 'stopped by /stop');
      return withNote(describeStop(withdrawn, stopped), argument);
    },
    new: async ({ tenant, session, argument }) => {
      await beginTranscript(ledger, tenant, session);
      return withNote('A fresh transcript begins: the agent no longer sees what came before. What runs or waits goes on.', argument);
    },
    status: async ({ tenant, session, argument }) => withNote(describeSession(await readSession({ ledger }, tenant, session)), argument),
    help: async ({ argument }) => {
      const more = Object.keys(others).map((name) => `/${name}`);
      return withNote([...HELP, ...more].join('\n'), argument);
    },
  };
  return new Map([...Object.entries(others), ...Object.entries(own)]);
}

function describeStop(withdrawn: number, stopped: number): string {
  if (withdrawn + stopped === 0) return 'Nothing runs and nothing waits.';
  const waiting = withdrawn === 0 ? 'Nothing waited' : `Withdrew ${withdrawn} that had not started`;
  return `${waiting}; ${stopped === 0 ? 'nothing ran' : `stopping ${stopped === 1 ? 'the one that runs' : `${stopped} that run`}`}.`;
}

/** What somebody wrote behind a command that takes nothing must not vanish without a word. */
function withNote(answer: string, argument: string): string {
  return argument === '' ? answer : `${answer}\nWhat stood behind the command was not sent to the agent.`;
}
