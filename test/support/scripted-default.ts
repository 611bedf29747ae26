/** Settings whose built-in agents use the scripted model when nobody names one; it is used only where it is named. */
export function scriptedDefault(config: string): string {
  if (/^\s*["']?models\b/m.test(config) || /[{,]\s*["']?models["']?\s*:/.test(config)) return config
  const models = { default: 'scripted/scripted' }
  if (config.trimStart().startsWith('{')) return JSON.stringify({ ...(JSON.parse(config) as object), models })
  return `${config}${config === '' || config.endsWith('\n') ? '' : '\n'}models: ${JSON.stringify(models)}\n`
}
