/** The beginning of the tokens of each well-known service, and the least that follows. */
const FORMS: readonly string[] = [
  '(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{12,}', // AWS
  'github_pat_\\w{8,}',
  '(?:gh[pousr]|sk|pk|rk|xox[a-z]|xapp)[_-][\\w-]{16,}', // GitHub, Stripe, OpenAI, Slack
  'gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[\\w.-]{8,}', // GitLab
  '(?:npm|hf|gsk|r8|figd|sbp|rubygems|whsec)_[A-Za-z0-9]{16,}',
  '(?:dckr_pat|dckr_oat|do[opr]_v1|lin_api|glsa|pscale_(?:tkn|pw|oauth)|ntn|nvapi|xai|pypi|PMAK|GOCSPX|sq0[a-z]{3})[_-][\\w-]{12,}',
  'SG\\.[\\w-]{8,}(?:\\.[\\w-]*)?', // SendGrid
  'shp(?:at|ca|pa|ss|tka|ua)_\\w{8,}', // Shopify
  'ya29\\.[\\w-]{8,}', // Google
  'AIza[\\w-]{8,}',
  'hv[bsr]\\.[\\w-]{16,}', // Vault
  'ATATT3[\\w=-]{16,}', // Atlassian
  '(?<=hooks\\.slack\\.com/(?:services|workflows|triggers)/)[\\w/-]{8,}',
  '(?<=discord(?:app)?\\.com/api/webhooks/)[\\w/-]{8,}',
  '(?<=/bot\\d{6,12}:)[\\w-]{20,}', // Telegram
];

/** Tokens that are known by themselves, without a name before them. */
export const TOKENS: RegExp = new RegExp(`(?<!\\w)(?:${FORMS.join('|')})`, 'g');

/**
 * A JSON web token, after what stands before it in the same word. It is looked for only in a word that a dot, another word and a
 * second dot follow: else each of its beginnings would be followed to the end of the word.
 */
export const JSON_WEB_TOKEN: RegExp =
  /(?<![\w-])(?=[\w-]+\.[\w-]{5,}\.)((?:[\w-]*?-)?)eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g;
