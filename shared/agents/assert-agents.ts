import { type Config, invalidConfig } from '../config/index.ts';
import { checkAgents } from './check-agents.ts';
import { commandUser, commandUserProblem } from './command/command-user.ts';

/**
 * Refuses a start whose configured agents could not run here: better than tasks that fail one by one.
 * Throws `config.invalid` with one line per problem, also in `details.problems`.
 */
export async function assertAgents({ settings, env, directory, readVariable }: Config): Promise<void> {
  const problems = await checkAgents(settings.agents, {
    directory,
    openaiBaseUrl: env.OPENAI_BASE_URL,
    openaiApiKey: env.OPENAI_API_KEY,
    readSecret: readVariable,
  });
  const user = commandUser(settings.commands);
  const runsCommands = Object.values(settings.agents).some(({ kind }) => kind === 'command');
  const userProblem = runsCommands ? commandUserProblem(user) : null;
  if (userProblem !== null) problems.push(userProblem);
  if (problems.length > 0) throw invalidConfig(problems);
}
