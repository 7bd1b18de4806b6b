import { fieldTable, typeOf } from './field-table.ts';
import { type Endpoint, ENDPOINTS, SCHEMAS } from './openapi.ts';

/** The pages of the API reference: title, and the tags whose operations a page has. */
const PAGES: Readonly<Record<string, readonly [title: string, ...tags: string[]]>> = {
  tasks: ['Tasks and files', 'tasks', 'uploads', 'files', 'failures'],
  sessions: ['Sessions and chat', 'sessions', 'chat', 'notifications'],
  schedules: ['Schedules and runs', 'schedules', 'runs'],
  hooks: ['Hooks', 'hooks'],
  deliveries: ['Deliveries and callbacks', 'deliveries', 'callbacks'],
  agents: ['Agents and money', 'agents', 'budgets', 'providers', 'usage'],
  fleet: ['The fleet', 'fleet', 'queues', 'daemons', 'metrics', 'now', 'attention', 'checks', 'configuration', 'probes'],
  tenants: ['Tenants, limits and people', 'tenants', 'limits', 'people', 'erasures', 'audit', 'sign'],
};
const LISTED = new Set(Object.values(PAGES).flatMap(([, ...tags]) => tags));

/** A page for each group of endpoints and one for the records that they take and answer, as Markdown by name. */
export function apiPages(): Readonly<Record<string, string>> {
  const pages = Object.entries(PAGES).map(([name, [title, ...tags]]) => {
    const endpoints = ENDPOINTS.filter(({ operation }) => operation.tags.some((tag) => tags.includes(tag)));
    return [`api-${name}`, pageOf(title, endpoints)] as const;
  });
  const others = ENDPOINTS.filter(({ operation }) => !operation.tags.some((tag) => LISTED.has(tag)));
  const more = others.length === 0 ? [] : [['api-more', pageOf('More', others)] as const];
  return Object.fromEntries([...pages, ...more, ['api-records', recordsPage()] as const]);
}

function pageOf(title: string, endpoints: readonly Endpoint[]): string {
  const lead =
    'From the OpenAPI document of this version. [The API](/api.md) says how to call it, and `/docs` of a running fleet lets you try it.';
  return [`# API: ${title}`, lead, ...endpoints.map(endpointText)].join('\n\n');
}

function endpointText({ method, path, operation }: Endpoint): string {
  const { summary, description, parameters = [], requestBody, responses } = operation;
  const query = parameters.map(({ name, required, description: about, schema = {}, in: place }) => ({
    name: `\`${name}\``,
    schema: {
      ...schema,
      description: [place === 'query' ? '' : `In the ${place}.`, about ?? schema.description].filter(Boolean).join(' '),
    },
    isRequired: required === true,
  }));
  const [media, body] = Object.entries(requestBody?.content ?? {})[0] ?? ['', {}];
  return [
    `## ${method} \`${path}\``,
    [summary, description].filter(Boolean).join('. '),
    ...(query.length === 0 ? [] : [fieldTable('parameter', query)]),
    ...(body.schema === undefined ? [] : [`Body (\`${media}\`): ${typeOf(body.schema)}`, ...fieldsOf(body.schema)]),
    responseTable(responses),
  ].join('\n\n');
}

function fieldsOf(schema: (typeof SCHEMAS)[string]): string[] {
  const { properties, required = [] } = schema.$ref === undefined ? schema : (SCHEMAS[nameOf(schema.$ref)] ?? {});
  if (properties === undefined) return [];
  return [
    fieldTable(
      'field',
      Object.entries(properties).map(([name, each]) => ({ name: `\`${name}\``, schema: each, isRequired: required.includes(name) })),
    ),
  ];
}

function responseTable(responses: Endpoint['operation']['responses']): string {
  const rows = Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, { description = '', content = {} }]) => {
      const schema = Object.values(content)[0]?.schema;
      return `| ${status} | ${description.replaceAll('\n', ' ')} | ${schema === undefined ? '' : typeOf(schema)} |`;
    });
  return ['| answer | when | with |', '| --- | --- | --- |', ...rows].join('\n');
}

function recordsPage(): string {
  const texts = Object.entries(SCHEMAS)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([name, schema]) => {
      const fields = fieldsOf(schema);
      const about = [schema.description ?? '', ...(fields.length === 0 ? [`It is ${typeOf(schema)}.`] : fields)];
      return [`## ${name}`, ...about.filter(Boolean)].join('\n\n');
    });
  return ['# API: Records', 'What endpoints take and answer. Required fields are marked with a star.', ...texts].join('\n\n');
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
