/**
 * The agents of a fleet by name: `typeof agents` of its configuration. The client reads only their types. What `defineAgent` makes has those of
 * its input and its result (`~types`); any other agent takes text.
 */
export type AgentMap = Readonly<Record<string, object>>;

interface Typed {
  readonly input: unknown;
  readonly result: unknown;
}

type TypesOf<Agent> = '~types' extends keyof Agent ? Extract<NonNullable<Agent['~types']>, Typed> : never;

/** Whether nothing is known of the agent, as of a client without `typeof agents`. */
type IsUnknown<Agent> = object extends Agent ? (keyof Agent extends never ? true : false) : false;

/** What an agent is sent: JSON that its `input` takes, or text. */
export type InputOf<Agent> = IsUnknown<Agent> extends true ? unknown : [TypesOf<Agent>] extends [never] ? string : TypesOf<Agent>['input'];

/** What `result()` resolves to: what the agent's `run` returns, or the text of an agent that has only that. */
export type ResultOf<Agent> = [TypesOf<Agent>] extends [never]
  ? Agent extends { readonly kind: 'echo' | 'openai' }
    ? string
    : unknown
  : TypesOf<Agent>['result'];
