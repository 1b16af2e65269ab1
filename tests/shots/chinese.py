"""The sample conversation in Chinese."""

from chat.protocol.displays import SumDisplay, display_to_json
from chat.protocol.messages import WithParts
from tests.support.samples import answer, done, step, text, thinking, tool

_SUM = display_to_json(SumDisplay(expression="17.5 / 100 * 2340", result="409.5"))

_PROSE = """定金是 **409.50 €**。在里斯本收取定金很常见，但这是双方的约定：
法律没有规定比例，所以**金额和退还条件都应写成书面文字。**

## 需要支付的款项

| 项目 | 时间 | 比例 | 金额 |
|---|---|--:|--:|
| 定金 | 签预订书时 | 17.5% | 409.50 € |
| 第一个月房租 | 签租约时 | 100% | 2,340.00 € |
| 押金（扣除定金） | 交钥匙时 | 82.5% | 1,930.50 € |

## 转账之前

1. 要求对方提供签字的预订书，其中写明 *sinal*。
2. 写明签租约的最后日期。
3. 通过银行转账并保留凭证；`MB Way` 可以，现金不行。

```python
from decimal import Decimal

def deposit(rent, share=Decimal("0.175")):
    \"\"\"按房租计算定金，单位欧元。\"\"\"
    return round(rent * share, 2)
```

- [x] 问银行
- [ ] 问房东
"""


def chinese_question() -> str:
    return "房东要收 2,340 € 的 17.5% 作为定金。这是多少钱？在葡萄牙常见吗？能给我一个小函数吗？"


def chinese_answer(position: int) -> WithParts:
    return answer(
        position,
        step(),
        thinking("先算百分比，再查习惯，最后写函数。"),
        tool("calculator", done({"expression": "17.5 / 100 * 2340"}, "409.5", _SUM, ms=100)),
        text(_PROSE),
    )
