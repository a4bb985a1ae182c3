// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core/throw.h"
#include "segcal/index.h"

namespace segcal {
namespace {

// Class names and the colours of the data sets' own figures, in the order of class indices:
// "name=rrggbb;...". Facts, from the sources that LabelSet::source names.
constexpr const char* kCityscapesClasses =
    "road=804080;sidewalk=f423e8;building=464646;wall=66669c;fence=be9999;pole=999999;"
    "traffic light=faaa1e;traffic sign=dcdc00;vegetation=6b8e23;terrain=98fb98;sky=4682b4;"
    "person=dc143c;rider=ff0000;car=00008e;truck=000046;bus=003c64;train=005064;"
    "motorcycle=0000e6;bicycle=770b20";
constexpr const char* kCamvidClasses =
    "sky=808080;building=800000;pole=c0c080;road=804080;pavement=3c28de;tree=808000;"
    "sign=c08080;fence=404080;car=400080;pedestrian=404000;bicyclist=0080c0";
constexpr const char* kVocClasses =
    "background=000000;aeroplane=800000;bicycle=008000;bird=808000;boat=000080;bottle=800080;"
    "bus=008080;car=808080;cat=400000;chair=c00000;cow=408000;diningtable=c08000;dog=400080;"
    "horse=c00080;motorbike=408080;person=c08080;pottedplant=004000;sheep=804000;sofa=00c000;"
    "train=80c000;tvmonitor=004080";
constexpr const char* kAde20kClasses =
    "wall=787878;building=b47878;sky=06e6e6;floor=503232;tree=04c803;ceiling=787850;"
    "road=8c8c8c;bed=cc05ff;windowpane=e6e6e6;grass=04fa07;cabinet=e005ff;sidewalk=ebff07;"
    "person=96053d;earth=787846;door=08ff33;table=ff0652;mountain=8fff8c;plant=ccff04;"
    "curtain=ff3307;chair=cc4603;car=0066c8;water=3de6fa;painting=ff0633;sofa=0b66ff;"
    "shelf=ff0747;house=ff09e0;sea=0907e6;mirror=dcdcdc;rug=ff095c;field=7009ff;"
    "armchair=08ffd6;seat=07ffe0;fence=ffb806;desk=0aff47;rock=ff290a;wardrobe=07ffff;"
    "lamp=e0ff08;bathtub=6608ff;railing=ff3d06;cushion=ffc207;base=ff7a08;box=00ff14;"
    "column=ff0829;signboard=ff0599;chest of drawers=0633ff;counter=eb0cff;sand=a09614;"
    "sink=00a3ff;skyscraper=8c8c8c;fireplace=fa0a0f;refrigerator=14ff00;grandstand=1fff00;"
    "path=ff1f00;stairs=ffe000;runway=99ff00;case=0000ff;pool table=ff4700;pillow=00ebff;"
    "screen door=00adff;stairway=1f00ff;river=0bc8c8;bridge=ff5200;bookcase=00fff5;"
    "blind=003dff;coffee table=00ff70;toilet=00ff85;flower=ff0000;book=ffa300;hill=ff6600;"
    "bench=c2ff00;countertop=008fff;stove=33ff00;palm=0052ff;kitchen island=00ff29;"
    "computer=00ffad;swivel chair=0a00ff;boat=adff00;bar=00ff99;arcade machine=ff5c00;"
    "hovel=ff00ff;bus=ff00f5;towel=ff0066;light=ffad00;truck=ff0014;tower=ffb8b8;"
    "chandelier=001fff;awning=00ff3d;streetlight=0047ff;booth=ff00cc;"
    "television receiver=00ffc2;airplane=00ff52;dirt track=000aff;apparel=0070ff;pole=3300ff;"
    "land=00c2ff;bannister=007aff;escalator=00ffa3;ottoman=ff9900;bottle=00ff0a;"
    "buffet=ff7000;poster=8fff00;stage=5200ff;van=a3ff00;ship=ffeb00;fountain=08b8aa;"
    "conveyer belt=8500ff;canopy=00ff5c;washer=b800ff;plaything=ff001f;swimming pool=00b8ff;"
    "stool=00d6ff;barrel=ff0070;basket=5cff00;waterfall=00e0ff;tent=70e0ff;bag=46b8a0;"
    "minibike=a300ff;cradle=9900ff;oven=47ff00;ball=ff00a3;food=ffcc00;step=ff008f;"
    "tank=00ffeb;trade name=85ff00;microwave=ff00eb;pot=f500ff;animal=ff007a;bicycle=fff500;"
    "lake=0abed4;dishwasher=d6ff00;screen=00ccff;blanket=1400ff;sculpture=ffff00;hood=0099ff;"
    "sconce=0029ff;vase=00ffcc;traffic light=2900ff;tray=29ff00;ashcan=ad00ff;fan=00f5ff;"
    "pier=4700ff;crt screen=7a00ff;plate=00ffb8;monitor=005cff;bulletin board=b8ff00;"
    "shower=0085ff;radiator=ffd600;glass=19c2c2;clock=66ff00;flag=5c00ff";

struct KnownSet {
  const char* name;
  const char* source;
  const char* classes;
  const char* label_map;  // a name for LoadLabelMap; null: label files hold class indices
  bool has_background;    // class 0
};

constexpr KnownSet kKnownSets[] = {
    {"ade20k",
     "ADE20K scene parsing benchmark, 150 classes; label files with 0 for other",
     kAde20kClasses,
     "ade20k",
     false},
    {"camvid",
     "CamVid, the 11 classes of SegNet; label files with 11 or 255 for void",
     kCamvidClasses,
     "camvid",
     false},
    {"cityscapes",
     "Cityscapes, the 19 evaluated classes; label files *_labelIds.png",
     kCityscapesClasses,
     "cityscapes",
     false},
    {"cityscapes_train_ids",
     "Cityscapes, the 19 evaluated classes; label files *_labelTrainIds.png",
     kCityscapesClasses,
     nullptr,
     false},
    {"voc",
     "Pascal VOC, 20 classes and background; label files with 255 for void",
     kVocClasses,
     nullptr,
     true},
};

LabelSet MakeLabelSet(const KnownSet& known) {
  LabelSet set{.name = known.name, .source = known.source};
  const std::string text = known.classes;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    const size_t equals = text.find('=', begin);
    set.classes.push_back(text.substr(begin, equals - begin));
    set.colors.push_back("#" + text.substr(equals + 1, end - equals - 1));
    begin = end + 1;
  }
  if (known.label_map != nullptr) set.label_map = LoadLabelMap(known.label_map);
  if (known.has_background) set.background = 0;
  return set;
}

}  // namespace

std::vector<LabelSet> ListLabelSets() {
  std::vector<LabelSet> sets;
  for (const KnownSet& known : kKnownSets) sets.push_back(MakeLabelSet(known));
  return sets;
}

LabelSet FindLabelSet(const std::string& name) {
  std::vector<std::string> names;
  for (const KnownSet& known : kKnownSets) {
    if (name == known.name) return MakeLabelSet(known);
    names.emplace_back(known.name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown label set \"{}\"; known are {}",
        name,
        fmt::join(names, ", "));
}

}  // namespace segcal
