import { z } from 'zod';
import type { ModelRequest } from '#shared/tasks/index.ts';
import { wrong } from './read-content.ts';

/** As OpenAI bounds them. */
const MAX_TOOLS = 128;
const NAME = /^[\w-]{1,64}$/;

/** What is said of tools of OpenAI's own servers. */
const NOT_SERVED = 'expected "function": there are only functions of the caller; tools of OpenAI itself are not served here';

export const TOOL_CHOICES = ['auto', 'none', 'required'] as const;

/** A function of the caller. */
export const functionSchema = z.looseObject({
  name: z.string().regex(NAME, 'expected 1 to 64 letters, digits, "_" and "-"'),
  description: z.string().nullable().optional(),
  parameters: z.record(z.string(), z.unknown()).nullable().optional(),
});
type Described = z.infer<typeof functionSchema>;

/** Tools of a request, whose type is looked at before all else: what tools of OpenAI have is another matter. */
export function toolsSchema<Tool extends z.ZodObject<{ type: z.ZodLiteral<'function'> }>>(
  tool: Tool,
): z.ZodOptional<z.ZodNullable<z.ZodArray<z.ZodDiscriminatedUnion<[Tool], 'type'>>>> {
  return z
    .array(z.discriminatedUnion('type', [tool], NOT_SERVED))
    .max(MAX_TOOLS)
    .nullable()
    .optional();
}

/** Which of them the model may or has to call. */
export type ToolChoice = (typeof TOOL_CHOICES)[number] | { readonly name: string };

/** The functions that a model is asked to call. Errors: `request.invalid` for two of one name, and for a choice that is none of them. */
export function readTools(tools: readonly Described[], choice: ToolChoice): Pick<ModelRequest, 'functions' | 'mustCall'> {
  const names = tools.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw wrong('tools', `two functions are called "${twice}"`);
  if (typeof choice === 'object' && !names.includes(choice.name))
    throw wrong('tool_choice', `there is no function "${choice.name.slice(0, 64)}"`);
  if (tools.length === 0 || choice === 'none') return {};
  const functions = tools.map(({ name, description, parameters }) => ({
    name,
    description: description ?? '',
    parameters: parameters ?? {},
  }));
  if (choice === 'auto') return { functions };
  return { functions, mustCall: choice === 'required' ? true : choice.name };
}
