import { z } from 'zod';
import { CliProblem } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext } from '../../command-context.ts';

const findingSchema = z.object({
  /** Of the list of findings; absent where nothing was found. */
  id: z.string().optional(),
  name: z.string(),
  state: z.enum(['ok', 'warn', 'fail', 'skip']),
  detail: z.string(),
  /** Whose it is where it is not the installation's, such as `agent writer`. */
  of: z.string().optional(),
});
const listSchema = z.object({ items: z.array(findingSchema) });

/** A row of `npx muster doctor`. */
export type Finding = z.infer<typeof findingSchema>;

/** What a fleet on another machine finds in its Redis. Null for the fleet of this machine, whose Redis is checked from here. */
export async function findChecks(context: CommandContext): Promise<Finding[] | null> {
  if (!context.isElsewhere()) return null;
  return await findOrSkip('Fleet', async () => readAnswer(listSchema, await context.connect().get('/v1/checks')).items, true);
}

/** What was found; without an answer it is one check: skipped, or failed where an address was named and its fleet does not let this caller in. */
export async function findOrSkip(name: string, find: () => Promise<Finding[]>, isNamed = false): Promise<Finding[]> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof CliProblem)) throw error;
    const [reason = ''] = error.message.split('\n');
    // A key that is known and may not read the checks is no fault of the fleet or of the key.
    const state = isNamed && error.code !== 'auth.forbidden' ? 'fail' : 'skip';
    return [{ name, state, detail: `could not be read: ${reason}` }];
  }
}
