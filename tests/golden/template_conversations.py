"""Chat templates written for this test in the manner of published families, and the conversations they render."""


def call(name, arguments):
    return {"id": "call12345", "type": "function", "function": {"name": name, "arguments": arguments}}


CONVERSATIONS = {
    "plain": [{"role": "user", "content": "Hello"}],
    "turns": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "  Hi  there\n"},
        {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes."},
        {"role": "user", "content": "日本語 😀 'quotes' \"and\" <tags>"},
    ],
    "parts": [
        {"role": "user", "content": [{"type": "text", "text": "What is "}, {"type": "image"}, {"type": "text", "text": "this?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "A cat"}]},
        {"role": "user", "content": "Sure?"},
    ],
    "tools": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": None, "reasoning_content": "Ask.", "tool_calls": [call("weather", {"city": "Zürich", "days": 2, "x": [1.5, None, True]})]},
        {"role": "tool", "name": "weather", "tool_call_id": "call12345", "content": "{\"t\": 20}"},
        {"role": "assistant", "content": "20 degrees."},
    ],
    "string arguments": [
        {"role": "user", "content": "Two"},
        {"role": "assistant", "content": "", "tool_calls": [call("a", "{\"x\": 1}"), call("b", "{}")]},
        {"role": "tool", "content": "1", "tool_call_id": "call12345"},
        {"role": "tool", "content": "2", "tool_call_id": "call12345"},
        {"role": "user", "content": "So?"},
    ],
    "out of order": [{"role": "assistant", "content": "x"}, {"role": "assistant", "content": "y"}],
    "missing keys": [{"role": "user"}, {"role": "other", "content": "q"}],
    "empty": [],
}

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Gets <weather> & \"more\"",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where"},
                    "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
                    "days": {"type": ["integer", "null"]},
                    "tags": {"type": "array", "items": {"type": "number"}},
                    "at": {"type": "object", "properties": {"hour": {"type": "boolean"}}},
                },
                "required": ["city"],
            },
        },
    }
]

TEMPLATES = {
    "chatml": """{% for m in messages %}{{ '<|begin|>' + m['role'] + '\n' + m['content'] + '<|end|>' + '\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|begin|>assistant\n' }}{% endif %}""",
    "alternating": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set start = 1 %}{% set system = messages[0]['content'] | trim + '\n\n' %}{% else %}{% set start = 0 %}{% set system = '' %}{% endif %}
{%- for m in messages[start:] %}
{%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Roles must alternate user/assistant/user/assistant') }}
{%- endif %}
{%- if m['role'] == 'user' %}
{{- '[A] ' + (system if loop.first else '') + m['content'] | trim + ' [/A]' }}
{%- else %}
{{- ' ' + m['content'] | trim + eos_token }}
{%- endif %}
{%- endfor %}""",
    "tools as json": """{%- if not date_string is defined %}{% set date_string = '26 Jul 2024' %}{% endif %}
{%- set tools_in_user_message = tools_in_user_message if tools_in_user_message is defined else false %}
{{- bos_token + '<|head|>system<|/head|>\n\nToday: ' + date_string + '\n' }}
{%- if messages and messages[0].role == 'system' %}
    {%- set system_message = messages[0].content|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = '' %}
{%- endif %}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- '\n\n' }}
    {%- endfor %}
{%- endif %}
{{- system_message ~ '<|stop|>' }}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|head|>' + message['role'] + '<|/head|>\n\n' + message['content'] | trim + '<|stop|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception('Only one tool call at once') }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '{"name": "' + tool_call.name + '", "parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- '}<|stop|>' }}
    {%- else %}
        {{- '<|head|>result<|/head|>\n\n' }}
        {%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}{% else %}{{- message.content }}{% endif %}
        {{- '<|stop|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|head|>assistant<|/head|>\n\n' }}{% endif %}
""",
    "thinking": """{%- macro text_of(content) -%}
{%- if content is string %}{{ content }}{% elif content is iterable and content is not mapping %}{% for part in content %}{% if part.type == 'text' %}{{ part.text }}{% elif 'image' in part.type %}<image>{% else %}{{ raise_exception('Unknown part ' ~ part.type) }}{% endif %}{% endfor %}{% elif content is none or content is undefined %}{{ '' }}{% endif %}
{%- endmacro -%}
{%- set ns = namespace(last_query=-1, seen=false) %}
{%- for m in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if not ns.seen and m.role == 'user' and not (m.content is string and m.content.startswith('<result>') and m.content.endswith('</result>')) %}
        {%- set ns.seen = true %}{%- set ns.last_query = index %}
    {%- endif %}
{%- endfor %}
{%- for m in messages %}
    {%- set content = text_of(m.content) %}
    {%- set reasoning = '' %}
    {%- if m.role == 'assistant' %}
        {%- if m.reasoning_content is string %}{% set reasoning = m.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {{- '<|assistant|>\n' }}
        {%- generation %}
        {%- if loop.index0 > ns.last_query and (loop.last or reasoning) %}{{- '<think>\n' + reasoning.strip('\n') + '\n</think>\n\n' }}{% endif %}
        {{- content }}
        {%- for tc in m.tool_calls or [] %}
            {%- if tc.function %}{% set tc = tc.function %}{% endif %}
            {{- '\n<call>\n{"name": "' ~ tc.name ~ '", "arguments": ' }}
            {{- tc.arguments if tc.arguments is string else tc.arguments|tojson }}
            {{- '}\n</call>' }}
        {%- endfor %}
        {{- '<|end|>\n' }}
        {%- endgeneration %}
    {%- elif m.role == 'tool' %}
        {%- if loop.first or loop.previtem.role != 'tool' %}{{- '<|user|>' }}{% endif %}
        {{- '\n<result>\n' + content + '\n</result>' }}
        {%- if loop.last or loop.nextitem.role != 'tool' %}{{- '<|end|>\n' }}{% endif %}
    {%- else %}
        {{- '<|' + m.role + '|>\n' + content + '<|end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|assistant|>\n' }}{% if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{% endif %}{% endif %}
""",
    "typed tools": """{%- macro type_of(p) -%}
    {%- if p.type == 'array' -%}{{ (type_of(p['items']) if p['items'] else 'any') + '[]' }}
    {%- elif p.type is iterable and p.type is not string -%}{{ p.type|join(' | ')|replace('integer', 'number') }}
    {%- elif p.enum is defined -%}{{ '"' + p.enum|join('" | "') + '"' }}
    {%- elif p.type == 'object' and p.properties -%}
        {{- '{ ' }}{% for name, inner in p.properties.items() %}{{ name ~ ('?' if name not in (p.required or [])) ~ ': ' ~ type_of(inner) }}{{ ', ' if not loop.last }}{% endfor %}{{ ' }' }}
    {%- else -%}{{ {'integer': 'number', 'string': 'string', 'number': 'number'}.get(p.type, p.type) }}{% endif -%}
{%- endmacro -%}
{%- macro render_tools(namespace_name, tools) -%}
    {{- '## ' + namespace_name + '\n\nnamespace ' + namespace_name + ' {\n\n' }}
    {%- for tool in tools %}
        {%- set tool = tool.function %}
        {{- '// ' + tool.description + '\ntype ' + tool.name + ' = (' }}
        {%- if tool.parameters and tool.parameters.properties %}
            {{- '_: {\n' }}
            {%- for name, p in tool.parameters.properties.items() %}
                {%- if p.description %}{{- '// ' + p.description + '\n' }}{% endif %}
                {{- name }}{% if name not in (tool.parameters.required or []) %}?{% endif %}{{- ': ' + type_of(p) }}
                {%- if p.default is defined %}{{- ', // default: ' ~ p.default }}{% else %},{% endif %}{{- '\n' }}
            {%- endfor %}
            {{- '}' }}
        {%- endif %}
        {{- ') => any;\n\n' }}
    {%- endfor %}
    {{- '} // namespace ' + namespace_name }}
{%- endmacro -%}
{{- '<|start|>system<|message|>Reasoning: ' + (reasoning_effort|default('medium')) + '\nDate: ' + strftime_now('%Y-%m-%d') + '<|end|>' }}
{%- if tools -%}{{- '<|start|>developer<|message|>' }}{{ render_tools('functions', tools) }}{{- '<|end|>' }}{%- endif -%}
{%- set last = namespace(name=none) %}
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {%- if message.tool_calls %}
            {%- set tool_call = message.tool_calls[0].function or message.tool_calls[0] %}
            {%- if message.reasoning_content and message.content %}{{ raise_exception('Both') }}{% endif %}
            {{- '<|start|>assistant to=functions.' ~ tool_call.name ~ '<|channel|>commentary json<|message|>' ~ tool_call.arguments|tojson ~ '<|call|>' }}
            {%- set last.name = tool_call.name %}
        {%- elif loop.last and not add_generation_prompt %}{{- '<|start|>assistant<|channel|>final<|message|>' ~ message.content ~ '<|return|>' }}
        {%- else %}{{- '<|start|>assistant<|channel|>final<|message|>' ~ message.content ~ '<|end|>' }}{% set last.name = none %}{% endif %}
    {%- elif message.role == 'tool' -%}
        {%- if last.name is none %}{{- raise_exception('Message has tool role, but there was no previous assistant message with a tool call!') }}{% endif %}
        {{- '<|start|>functions.' ~ last.name ~ ' to=assistant<|message|>' ~ message.content|tojson ~ '<|end|>' }}
    {%- else -%}{{- '<|start|>user<|message|>' + message.content + '<|end|>' }}{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}
""",
    "filters on messages": """{%- set system_messages = messages|selectattr('role', 'in', ['system', 'developer'])|map(attribute='content')|select('string')|list %}
{%- set rest = messages|rejectattr('role', 'equalto', 'system')|list %}
{%- set user_messages = rest|selectattr('role', '==', 'user')|list %}
{{- '<s>' ~ system_messages|join('\n')|trim }}
{%- for message in rest %}
  {%- set is_last_user = message is sameas(user_messages|last) if user_messages else false %}
  {%- if message['content'] is string %}
    {%- set content = message.content|replace('<tags>', '')|trim %}
  {%- else %}
    {%- set content %}{% for p in message['content'] or [] %}{{ p['text'] if p['type'] == 'text' else '[' ~ p['type']|upper ~ ']' }}{% endfor %}{% endset %}
  {%- endif %}
  {%- if tools and is_last_user %}{{- '[TOOLS]' ~ tools|map(attribute='function')|map(attribute='name')|list|tojson ~ '[/TOOLS]' }}{% endif %}
  {%- for tool_call in message.tool_calls|default([], true) %}
    {%- set args = tool_call['function']['arguments'] %}
    {%- if args is mapping %}
      {%- for k, v in args|items %}{{- '<' ~ k ~ '>' ~ (v if v is string else v|tojson(ensure_ascii=False)) ~ '</' ~ k ~ '>' }}{% endfor %}
    {%- else %}{{- args }}{% endif %}
    {%- if tool_call.id is not defined or tool_call.id|length != 9 %}{{- raise_exception('Tool call IDs should have 9 characters!') }}{% endif %}
  {%- endfor %}
  {{- '<' ~ message.role|title ~ '>' ~ content ~ (eos_token if message.role == 'assistant') }}
{%- endfor %}
{%- filter trim %} {% if add_generation_prompt %}<Assistant>{% endif %} {% endfilter %}
""",
}
