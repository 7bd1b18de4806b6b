import { z } from 'zod';
import { sessionIdSchema } from '#shared/tasks/index.ts';

/** Path of everything about one session. A session is a name that is there from the first use on, so none is unknown. */
export const sessionPathSchema = z.object({ id: sessionIdSchema.meta({ description: "The session's id." }) });
