/** A workflow of n8n as its export has it. */
interface Workflow {
  nodes: { name: string; type: string; parameters: Record<string, unknown> }[];
  connections: Record<string, { main: { node: string }[][] }>;
}

/** What n8n gives to expressions. */
interface Scope {
  $json: unknown;
  $execution: { id: string; resumeUrl: string };
  $itemIndex: number;
}

interface Sent {
  path: string;
  init: { method: string; headers: Record<string, string>; body: string };
}

/** A parameter of a node: a text that begins with `=` has expressions in double braces. */
function evaluate(parameter: unknown, scope: Scope): string {
  const text = String(parameter);
  if (!text.startsWith('=')) return text;
  return text.slice(1).replaceAll(/\{\{(.*?)\}\}(?!\})/gs, (_, expression: string) => {
    // oxlint-disable-next-line no-implied-eval typescript/no-implied-eval -- the page's own expressions, which n8n evaluates so
    return String(new Function(...Object.keys(scope), `return (${expression});`)(...Object.values(scope)));
  });
}

export function readWorkflow(text: string): Workflow {
  return JSON.parse(text) as Workflow;
}

/** The nodes in the order in which they run. */
export function orderOf({ connections }: Workflow, first: string): string[] {
  const next = connections[first]?.main[0]?.[0]?.node;
  return next === undefined ? [first] : [first, ...orderOf({ nodes: [], connections }, next)];
}

function parametersOf(nodes: Workflow['nodes'], name: string): Record<string, unknown> {
  return nodes.find((node) => node.name === name)?.parameters ?? {};
}

/** The request that an HTTP Request node sends, apart from its credential. */
export function requestOf({ nodes }: Workflow, name: string, scope: Scope): Sent {
  const parameters = parametersOf(nodes, name);
  const { parameters: named } = parameters['headerParameters'] as { parameters: { name: string; value: string }[] };
  const headers = Object.fromEntries(named.map((header) => [header.name, evaluate(header.value, scope)]));
  return {
    path: new URL(String(parameters['url'])).pathname,
    init: {
      method: String(parameters['method']),
      headers: { 'Content-Type': 'application/json', ...headers },
      body: evaluate(parameters['jsonBody'], scope),
    },
  };
}

/** The fields that a Set node makes of what came before it. */
export function fieldsOf({ nodes }: Workflow, name: string, scope: Scope): Record<string, string> {
  const parameters = parametersOf(nodes, name);
  const { assignments } = parameters['assignments'] as { assignments: { name: string; value: string }[] };
  return Object.fromEntries(assignments.map((field) => [field.name, evaluate(field.value, scope)]));
}
