import { z } from 'zod';

/** A tool as a model reads of it, and whose it is. */
const toolSpecSchema = z.object({
  name: z.string(),
  description: z.string(),
  /** JSON Schema of its input. */
  schema: z.record(z.string(), z.json()),
  /** Of `tools` of the configuration, of an MCP server, an agent that gets a sub-task, or a function of the caller. */
  of: z.enum(['tools', 'mcp', 'delegates', 'caller']),
  /** The field of its input that an agent is given; without it all of its input. */
  field: z.literal('input').optional(),
  /** The name of its server in `mcp`, and its own name there. */
  server: z.string().optional(),
  at: z.string().optional(),
});
export type ToolSpec = z.infer<typeof toolSpecSchema>;

/** What a run with tools goes by from its start to its end, also where the configuration changes meanwhile. */
export const loopDefinitionSchema = z.object({ model: z.string(), instructions: z.string(), tools: z.array(toolSpecSchema) });
export type LoopDefinition = z.infer<typeof loopDefinitionSchema>;
