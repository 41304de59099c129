import { serve, write, frame } from './speaks-acp.mjs';

serve({ onPrompt: (id, { prompt }) => write(frame({ id, result: JSON.parse(prompt[0].text) })) });
