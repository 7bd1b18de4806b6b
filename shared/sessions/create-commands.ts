import type { Ledger } from '../ledger/index.ts';
import { redisNow } from '../redis/index.ts';
import { readSession } from './session-record.ts';
import type { SessionCommand } from './session-command.ts';
import { beginTranscript, readChoices } from './session-store.ts';
import { chooseMode } from './choose-mode.ts';
import { describeMode, HOW_TO_CHOOSE } from './describe-mode.ts';
import { describeSession } from './describe-session.ts';
import { plainWords } from './waiting/waiting-words.ts';
import { stopSession } from './stop-session.ts';

/** The commands that every session has, and those of others; a name that is none of them is text for the agent. */
export function createCommands(ledger: Ledger, others: Readonly<Record<string, SessionCommand>>): ReadonlyMap<string, SessionCommand> {
  const own: Record<string, SessionCommand> = {
    stop: {
      needs: 'steer',
      help: '/stop withdraws what waits and stops what runs',
      carryOut: async ({ tenant, session, argument }) => {
        const { withdrawn, stopped } = await stopSession(ledger, tenant, session, 'stopped by /stop');
        return withNote(describeStop(withdrawn, stopped), argument);
      },
    },
    new: {
      help: '/new begins a fresh transcript: the agent no longer sees what came before',
      carryOut: async ({ tenant, session, argument }) => {
        await beginTranscript(ledger, tenant, session);
        return withNote('A fresh transcript begins: the agent no longer sees what came before. What runs or waits goes on.', argument);
      },
    },
    status: {
      help: '/status says what runs, what waits and why',
      carryOut: async ({ tenant, session, surface, argument }) => {
        const now = await redisNow(ledger.redis);
        const record = await readSession({ ledger }, tenant, session, { surface, words: plainWords(now) });
        return withNote(describeSession(record, now), argument);
      },
    },
    queue: {
      help: [
        '/queue shows what becomes of a message that arrives while the agent works; /queue <mode> chooses it for this session',
        '/queue <mode> with a text sends that text in that mode, this once',
      ].join('\n'),
      carryOut: async ({ tenant, session, surface }) => {
        const choices = await readChoices(ledger, tenant, session);
        return `${describeMode(chooseMode(ledger.settings, { inline: null, choices, surface }), surface)} ${HOW_TO_CHOOSE}`;
      },
    },
    help: {
      help: '/help shows this',
      carryOut: ({ argument }) => Promise.resolve(withNote([...commands.values()].map(({ help }) => help).join('\n'), argument)),
    },
  };
  // Ours win, and are listed last: `/help` stands at the end.
  const commands = new Map([...Object.entries(others).filter(([name]) => !Object.hasOwn(own, name)), ...Object.entries(own)]);
  return commands;
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
