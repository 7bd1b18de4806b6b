import { CLIENT_CAPABILITIES_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { TASKS_EXTENSION } from './tasks-extension.ts';

/** What a client said that it can do. */
export interface ClientAbilities {
  /** Takes a handle of a task, and asks for it. */
  readonly tasks: boolean;
  /** Can put a form to a person. */
  readonly elicitation: boolean;
}

const envelopeSchema = z.object({
  [CLIENT_CAPABILITIES_META_KEY]: z.object({
    extensions: z.record(z.string(), z.unknown()).optional(),
    elicitation: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** Of the client of a message. One of 2025-11-25 says it in another request, which another process may have got: it counts as able to nothing. */
export function abilitiesOf({ mcpReq }: ServerContext): ClientAbilities {
  const said = envelopeSchema.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const { extensions = {}, elicitation } = said;
  // Without a mode it is the form.
  const takesForms = elicitation !== undefined && (Object.keys(elicitation).length === 0 || 'form' in elicitation);
  return { tasks: Object.hasOwn(extensions, TASKS_EXTENSION), elicitation: takesForms };
}
